import { and, asc, eq, exists, isNotNull, isNull, not, or, type SQL, sql } from "drizzle-orm";
import { accessEntries } from "../../audit/access_logs/access_logs.entries.ts";
import { digestsOfReferences } from "../../audit/access_logs/access_logs.sql.ts";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { hasValues, iif, isSame, withoutIndex } from "../../database/expressions.ts";
import { jsonField, jsonRows } from "../../database/insert.ts";
import { type BoundQuery, builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { ERASED_NAME, isHeld } from "../../database/retention.ts";
import { selectColumn } from "../../database/selects.ts";
import { ERASED_PORTION } from "../../limits.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { calls } from "../calls/calls.table.ts";
import { participants } from "./participants.table.ts";

/*
 * The erasure of participants: by retention (participants.chores.ts), or of one person on request (results/erasures). A
 * participation is one row: a person on a call, or in a waiting room that led to no call.
 */

const isOfEndedCall = () =>
  exists(selectColumn(calls.id, eq(calls.id, participants.call_id), isNotNull(calls.ended_at)));

/**
 * True for a participation that can be erased: it had no call, or its call has ended and no legal hold keeps it. It uses
 * `withoutIndex`, so that SQLite searches a person's participations by their reference.
 */
export const isErasable = (): SQL | undefined =>
  and(
    isNull(participants.erased_at),
    isNotNull(withoutIndex(participants.left_at)),
    or(isNull(participants.call_id), and(isOfEndedCall(), not(isHeld(participants.call_id)))),
  );

/** A participation to erase. */
export interface Erasable {
  id: number;
  key: string;
  external_reference: string | null;
}

export const erasableColumns = {
  id: participants.id,
  key: participants.key,
  external_reference: participants.external_reference,
};

/**
 * Returns the statements that erase participations and record each one in the access log. A trigger erases the references of their
 * calls.
 */
export async function erasureOf(context: Context, erased: Erasable[]): Promise<BoundQuery<unknown>[]> {
  const { now, settings } = context;
  const [keys, references] = await Promise.all([
    keyedDigests(
      settings.DIGEST_SECRET,
      erased.map(({ key }) => key),
    ),
    digestsOfReferences(
      settings,
      erased.map(({ external_reference }) => external_reference ?? ""),
    ),
  ]);
  const items = JSON.stringify(
    erased.map(({ id, external_reference }, n) => ({
      id,
      external_reference,
      digest: keys[n],
      reference_digest: external_reference === null ? null : references[n],
    })),
  );
  return [recordErasures(context, "delete", { items }), erase({ items, now })];
}

/**
 * True for the participant of an item that can still be erased. A hold that began in the meantime prevents it. So does a reference
 * that was reported in the meantime, because the item does not have its digest.
 */
const isItem = () =>
  and(
    eq(participants.id, jsonField("id")),
    isSame(participants.external_reference, jsonField("external_reference")),
    isErasable(),
  );

/** The entries about the participants that `erase` then erases in the same transaction. */
const recordErasures = accessEntries("participant", ({ items }: Placeholders<{ items: string }>) => ({
  ...subjectOfCall(participants),
  resource_id: participants.id,
  reference_digest: jsonField("reference_digest"),
  from: sql`${jsonRows(items)} cross join ${participants}`,
  where: isItem(),
}));

/** `items` is JSON. */
const erase = preparedQuery(({ items, now }: Placeholders<{ items: string; now: number }>) =>
  builder
    .update(participants)
    .set({
      display_name: ERASED_NAME,
      key: jsonField("digest"),
      external_reference: null,
      reference_digest: jsonField("reference_digest"),
      left_is_assumed: false,
      erased_at: now,
      updated_at: now,
    })
    .from(jsonRows(items))
    .where(isItem()),
);

/** A person, as the organization's own system knows them. */
export interface Person {
  organization_id: number;
  external_reference: string;
}

const isOfPerson = ({ organization_id, external_reference }: Placeholders<Person>) =>
  hasValues(participants, { organization_id, external_reference });

/** Selects a person's participations that can be erased. */
export const selectErasable = (person: Placeholders<Person>) =>
  builder
    .select({ ...erasableColumns, call_id: participants.call_id })
    .from(participants)
    .where(and(isOfPerson(person), isErasable()));

export const erasablePortion = preparedQuery((person: Placeholders<Person>) =>
  selectErasable(person)
    .orderBy(asc(participants.call_started_at), asc(participants.call_id), asc(participants.id))
    .limit(ERASED_PORTION),
);

/** Selects the `state` of each of a person's participations: `erasable`, `held`, or `ongoing`. */
export const selectStates = (person: Placeholders<Person>) =>
  builder
    .select({
      state: iif(
        sql`${isErasable()}`,
        "erasable",
        iif(sql`${and(isOfEndedCall(), isHeld(participants.call_id))}`, "held", "ongoing"),
      ).as("state"),
    })
    .from(participants)
    .where(isOfPerson(person));
