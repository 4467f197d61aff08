import { and, asc, eq, getTableColumns, inArray, isNotNull, isNull, type SQL } from "drizzle-orm";
import { union, unionAll } from "drizzle-orm/sqlite-core";
import { entriesWhere, idsIn } from "../../audit/access_logs/access_logs.entries.ts";
import { keyedDigests } from "../../bytes/digest.ts";
import { coalesce, columnAs, greatest, hasValues, scalar } from "../../database/expressions.ts";
import { insertRows, jsonField, type NewRow } from "../../database/insert.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { memberOf } from "../../organization/members/members.sql.ts";
import { idOfPerson, personColumns, selectPlanned } from "../../rooms/people/people.sql.ts";
import { people } from "../../rooms/people/people.table.ts";
import { selectNamedVisits } from "../../rooms/visits/visits.reports.ts";
import { organizationOfAnySlug } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import type { Settings } from "../../settings.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { type CallKey, callIdByKey, callIdOfPath, type ReachedCall } from "../calls/calls.sql.ts";
import { calls } from "../calls/calls.table.ts";
import { participants } from "./participants.table.ts";

export const participantColumns = getTableColumns(participants);

export const participantWrites = tableWrites(participants, participantColumns, {
  person_id: (of) => idOfPerson(of("person_id")),
});

export const shownColumns = {
  ...participantColumns,
  display_name: people.display_name,
  role: people.role,
  user_id: people.user_id,
  external_reference: people.external_reference,
};

export const isRecordOf = eq(people.id, participants.person_id);

const selectShown = () => builder.select(shownColumns).from(participants).innerJoin(people, isRecordOf);

export const latestTime = greatest(
  ...[participants.waiting_since, participants.joined_at, participants.left_at].map((time) =>
    coalesce(time, 0),
  ),
);

/**
 * A participant whose call_id is null is on the call with the `call_key`: a call that is inserted in the same transaction has no id yet
 * when the statement is bound.
 */
export const writeParticipants = insertRows<
  typeof participants,
  NewRow<typeof participants> & { call_key: string }
>(participants, {
  computed: {
    person_id: idOfPerson(jsonField("person_id")),
    call_id: coalesce(
      jsonField("call_id"),
      callIdByKey({ organization_id: jsonField("organization_id"), key: jsonField("call_key") }),
    ),
  },
  uniqueBy: ["organization_id", "key"],
  indexed: isNull(participants.erased_at),
});

/** Adds erased participants to a call. A report may change nothing else about them. `ids` is a JSON array. */
export const joinErased = preparedQuery((joined: Placeholders<CallKey & { ids: string }>) =>
  builder
    .update(participants)
    .set({ call_id: scalar(callIdByKey(joined)) })
    .where(and(inArray(participants.id, jsonValues(joined.ids)), isNull(participants.call_id))),
);

/** The keys that a report names, and their digests, which find erased participants. Both are JSON arrays. */
export interface NamedValues {
  keys: string;
  digests: string;
}

export type NamedKeys = Awaited<ReturnType<typeof namedKeys>>;

/**
 * The keys that a report names, with their digests: after an erasure only the digest of a participant's key is left, and a late report
 * is recognized by it.
 */
export async function namedKeys({ DIGEST_SECRET }: Settings, keys: string[]) {
  const digests = await keyedDigests(DIGEST_SECRET, keys);
  const digestOf = new Map(keys.map((key, n) => [key, digests[n] as string]));
  const keyOfDigest = new Map(digests.map((digest, n) => [digest, keys[n] as string]));
  const valuesOf = (some: string[]): NamedValues => ({
    keys: JSON.stringify(some),
    digests: JSON.stringify(some.map((key) => digestOf.get(key))),
  });
  return {
    digestOf: (key: string): string => digestOf.get(key) ?? "",
    values: valuesOf(keys),
    valuesOf,
    /**
     * Returns the found participants with the keys of the report. For a participant who came again after an erasure, it returns
     * only the latest row.
     *
     * @param found in the order of their ids, so that later stays come last
     */
    identify<Found extends { key: string; erased_at: number | null }>(found: Found[]): Found[] {
      const erased = found.filter(({ erased_at }) => erased_at !== null);
      const known = found.filter(({ erased_at }) => erased_at === null);
      const before = erased.map((each) => ({ ...each, key: keyOfDigest.get(each.key) ?? each.key }));
      return [...new Map([...before, ...known].map((each) => [each.key, each])).values()];
    },
  };
}

/** Selects the ids of an organization's participants that a report names. Each half of the union uses an index. */
export function participantIdsByKeys(organization_id: Value<number>, { keys, digests }: Values<NamedValues>) {
  const idsOf = (isErased: SQL, list: Value<string>) =>
    selectColumn(
      participants.id,
      eq(participants.organization_id, organization_id),
      isErased,
      inArray(participants.key, jsonValues(list)),
    );
  const { erased_at } = participants;
  return unionAll(idsOf(isNull(erased_at), keys), idsOf(isNotNull(erased_at), digests));
}

export const selectParticipantsByKeys = (organization_id: Value<number>, named: Values<NamedValues>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(inArray(participants.id, participantIdsByKeys(organization_id, named)))
    .orderBy(participants.id);

/** Selects the records of participants that a report names, and of those whom a visit plans under these keys. */
export const selectPeopleByKeys = (
  organization_id: Value<number>,
  named: Values<NamedValues & { numbers: string }>,
) => {
  const ids = participantIdsByKeys(organization_id, named);
  const ofKeys = builder
    .select({ id: columnAs(participants.person_id, "id") })
    .from(participants)
    .where(inArray(participants.id, ids));
  return builder
    .select(personColumns)
    .from(people)
    .where(inArray(people.id, union(ofKeys, selectPlanned(organization_id, named.numbers))))
    .orderBy(people.id);
};

export const peopleOfRoom = preparedQuery(
  (of: Placeholders<{ slug: string; numbers: string } & NamedValues>) =>
    selectPeopleByKeys(organizationOfAnySlug(of.slug), of),
);

export const participantByKey = preparedQuery(
  ({ organization_id, key }: Placeholders<{ organization_id: number; key: string }>) =>
    selectShown().where(
      and(hasValues(participants, { organization_id, key }), isNull(participants.erased_at)),
    ),
);

export const participantsOfRoom = preparedQuery((report: Placeholders<{ slug: string } & NamedValues>) =>
  selectParticipantsByKeys(organizationOfAnySlug(report.slug), report),
);

export const visitsOfRoom = preparedQuery(
  ({ slug, visit_ids }: Placeholders<{ slug: string; visit_ids: string }>) =>
    selectNamedVisits(organizationOfAnySlug(slug), visit_ids),
);

export const memberOfRoom = preparedQuery(
  ({ slug, user_id }: Placeholders<{ slug: string; user_id: number | null }>) =>
    memberOf(organizationOfAnySlug(slug), user_id),
);

export const isOnCallOfPath = (call: Values<ReachedCall>): SQL | undefined =>
  eq(participants.call_id, callIdOfPath(call));

/** The ids of the participants of a call in `calls`, as `participantsOfPath` lists them. */
export const idsOnCall = idsIn(
  selectColumn(participants.id, eq(participants.call_id, calls.id)).orderBy(asc(participants.id)),
);

export const participantsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  selectShown().where(isOnCallOfPath(call)).orderBy(asc(participants.id)),
);

interface ReachedParticipant extends ReachedCall {
  participant_id: number;
}

const isOfPath = (of: Values<ReachedParticipant>) =>
  and(eq(participants.id, of.participant_id), isOnCallOfPath(of));

export const participantOfPath = preparedQuery((of: Placeholders<ReachedParticipant>) =>
  selectShown().where(isOfPath(of)),
);

export const personOfPath = preparedQuery((of: Placeholders<ReachedParticipant>) =>
  builder.select(personColumns).from(participants).innerJoin(people, isRecordOf).where(isOfPath(of)),
);

export const participantEntry = entriesWhere(
  "participant",
  participants,
  subjectOfCall(participants),
)(isOfPath);
