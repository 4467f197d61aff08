import { and, asc, eq, exists, gt, inArray, isNotNull, isNull, not, or, type SQL, sql } from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { type OfReference, peopleOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { coalesce, columnAs, greatest, iif, joinedColumnAs } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
} from "../../database/queries.ts";
import { ERASED_NAME, isHeld } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import { ERASED_PORTION } from "../../limits.ts";
import { people } from "../../rooms/people/people.table.ts";
import { visitEntry } from "../../rooms/visits/visits.sql.ts";
import { visits } from "../../rooms/visits/visits.table.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { participants } from "./participants.table.ts";

/*
 * The erasure of people: by retention (participants.chores.ts), or of one person on request (results/erasures). It erases the names and
 * references of records, the keys of all their participations and, through triggers, the references of their visits and calls. A
 * participation is one row: a person on a call, or in a waiting room that led to no call.
 */

const isHeldCall = (of: SQL) => exists(selectColumn(participants.id, of, isHeld(participants.call_id)));

/** True if a call of the person, or of the visit that names them, is under legal hold. */
const isHeldPerson = or(
  isHeldCall(eq(participants.person_id, people.id)),
  isHeldCall(eq(participants.visit_id, people.visit_id)),
) as SQL;

/** True for a person of whom something is left to erase, unless they are waiting or on a call, or a call is under legal hold. */
export const isErasable = and(isNotNull(people.over_at), not(isHeldPerson));

const isLeft = isNull(participants.erased_at);

const erasableColumns = {
  person_id: columnAs(people.id, "person_id"),
  visit_id: iif(isNull(people.erased_at), people.visit_id, null).as("visit_id"),
  /** null for a person without participations that are left to erase. */
  participant_id: joinedColumnAs(participants.id, "participant_id"),
  key: joinedColumnAs(participants.key, "key"),
  call_id: joinedColumnAs(participants.call_id, "call_id"),
};

type Erasable = Row<typeof erasableColumns>;

/** Selects the people for whom a condition is true, each with all participations that are left to erase. */
export const selectErasable = (condition: SQL | undefined) =>
  builder
    .select(erasableColumns)
    .from(people)
    .leftJoin(participants, and(eq(participants.person_id, people.id), isLeft))
    .where(condition)
    .orderBy(asc(people.id), asc(participants.id));

/** Returns the number of participations and visits to erase, and the statements that erase them and record this in the access log. */
export async function erasureOf(context: Context, event: "update" | "delete", erasable: Erasable[]) {
  const { now, settings } = context;
  const participations = erasable.flatMap(({ participant_id }) => participant_id ?? []);
  const keys = erasable.flatMap(({ key }) => key ?? []);
  const digests = await keyedDigests(settings.DIGEST_SECRET, keys);
  const named = [...new Set(erasable.flatMap(({ visit_id }) => visit_id ?? []))];
  const visit_ids = JSON.stringify(named);
  const items = JSON.stringify(participations.map((id, n) => ({ id, digest: digests[n] })));
  const writes: [...BoundQuery<unknown>[], BoundQuery<unknown>] = [
    participantEntries(context, "delete", { ids: JSON.stringify(participations) }),
    visitEntriesByIds(context, event, { ids: visit_ids }),
    ...(event === "update" ? [updateVisits({ ids: visit_ids, now })] : []),
    eraseKeys({ items, now }),
    erasePeople({ ids: JSON.stringify(erasable.map(({ person_id }) => person_id)), now }),
  ];
  return { count: participations.length + named.length, writes };
}

const participantEntries = entriesWhere(
  "participant",
  participants,
  subjectOfCall(participants),
)(({ ids }: Placeholders<{ ids: string }>) => inArray(participants.id, jsonValues(ids)));

const visitEntriesByIds = visitEntry.where(({ ids }: Placeholders<{ ids: string }>) =>
  inArray(visits.id, jsonValues(ids)),
);

/** `items` is a JSON array. A late report is recognized by the digest of its key. */
const eraseKeys = preparedQuery(({ items, now }: Placeholders<{ items: string; now: number }>) =>
  builder
    .update(participants)
    .set({ key: jsonField("digest"), left_is_assumed: false, erased_at: now, updated_at: now })
    .from(jsonRows(items))
    .where(eq(participants.id, jsonField("id"))),
);

/** An erasure on request changes the visit for its clients. `ids` is a JSON array. */
const updateVisits = preparedQuery(({ ids, now }: Placeholders<{ ids: string; now: number }>) =>
  builder
    .update(visits)
    .set({ updated_at: greatest(now, sql`${visits.updated_at} + 1`) })
    .where(inArray(visits.id, jsonValues(ids))),
);

/** Must run after `eraseKeys`: a person whose keys are left becomes due again. @param ids a JSON array */
const erasePeople = preparedQuery(({ ids, now }: Placeholders<{ ids: string; now: number }>) =>
  builder
    .update(people)
    .set({
      display_name: ERASED_NAME,
      external_reference: null,
      reference_digest: null,
      erased_at: coalesce(people.erased_at, now),
      updated_at: now,
    })
    .where(inArray(people.id, jsonValues(ids)))
    .returning({ id: people.id }),
);

const found = (of: Placeholders<OfReference>, condition?: SQL) =>
  sql`(${peopleOfReference(of, condition)}) as found`;

/** An index yields only the people with a visit. */
const hasVisit = gt(people.visit_starts_at, sql.raw(String(Number.MIN_SAFE_INTEGER)));

export const erasablePortion = preparedQuery((of: Placeholders<OfReference>) =>
  selectErasable(
    inArray(
      people.id,
      builder
        .select({ id: people.id })
        .from(found(of))
        .crossJoin(people)
        .where(and(eq(people.id, sql`found.id`), isErasable))
        .limit(ERASED_PORTION),
    ),
  ),
);

const stateOfPerson = iif(isNull(people.over_at), "ongoing", iif(isHeldPerson, "held", "erasable"));

/** Selects the `state` of each participation left to erase, of the people who have or had a reference. */
export const selectStates = (of: Placeholders<OfReference>, condition?: SQL) =>
  builder
    .select({ state: stateOfPerson.as("state") })
    .from(found(of))
    .crossJoin(people)
    .crossJoin(participants)
    .where(and(eq(people.id, sql`found.id`), eq(participants.person_id, people.id), isLeft, condition));

/** Selects the `state` of each visit that names such a person. */
export const selectVisitStates = (of: Placeholders<OfReference>, condition?: SQL) =>
  builder
    .select({ visit_id: people.visit_id, state: stateOfPerson.as("state") })
    .from(found(of, hasVisit))
    .crossJoin(people)
    .where(
      and(eq(people.id, sql`found.id`), isNull(people.erased_at), isNotNull(people.visit_id), condition),
    );
