import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  not,
  type SQL,
} from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import { keyedDigests } from "../../bytes/digest.ts";
import { coalesce, greatest, scalar } from "../../database/expressions.ts";
import { manyRowWrites } from "../../database/insert.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { calls, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { Settings } from "../../settings.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { subjectOfCall } from "../calls/calls.entries.ts";
import { type CallKey, callIdByKey, callIdOfPath, type ReachedCall } from "../calls/calls.sql.ts";
import { memberOf } from "../organization_users/organization_users.sql.ts";
import { selectNamedVisits } from "../visits/visits.reports.ts";
import { organizationOfAnySlug } from "../waiting_rooms/waiting_rooms.slugs.ts";

export const participantColumns = getTableColumns(participants);

export const participantWrites = tableWrites(participants, participantColumns);

/** The latest time that is known of a participant. */
export const latestTime = greatest(
  ...[participants.waiting_since, participants.joined_at, participants.left_at].map((time) =>
    coalesce(time, 0),
  ),
);

/** Sets that somebody who waits leaves: last of all, so the event has the same time. */
export const leaveAt = (left_at: SQL<number>) => ({ left_at, left_event_at: left_at });

/**
 * Those whose call_id is null are on the call of the `call_key`: a call that is written in the same transaction has no id
 * before.
 */
export const writeParticipants = manyRowWrites<
  typeof participants,
  typeof participants.$inferInsert & { call_key: string }
>(
  participants,
  ["organization_id", "key"],
  {
    call_id: (of) =>
      coalesce(of("call_id"), callIdByKey({ organization_id: of("organization_id"), key: of("call_key") })),
  },
  isNull(participants.erased_at),
);

/** Takes participants to a call of whom the report may change nothing else. `ids` is a JSON array. */
export const joinErased = preparedQuery((joined: Placeholders<CallKey & { ids: string }>) =>
  builder
    .update(participants)
    .set({ call_id: scalar(callIdByKey(joined)) })
    .where(and(inArray(participants.id, jsonValues(joined.ids)), isNull(participants.call_id))),
);

/** The keys that a report names, and the digests of those of them whose participants are erased: JSON arrays. */
export interface NamedValues {
  keys: string;
  digests: string;
}

export type NamedKeys = Awaited<ReturnType<typeof namedKeys>>;

/**
 * The keys that a report names. Of the key of somebody who is erased only a digest is left, by which a late report is
 * recognized.
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
    /** For queries, as JSON arrays. */
    values: valuesOf(keys),
    /** The same of some of the keys. */
    valuesOf,
    /**
     * Those who were found, with the keys of the report. Who came again after an erasure is there once, as who came
     * now.
     *
     * @param found by id: later stays come last
     */
    identify<Found extends { key: string; erased_at: number | null }>(found: Found[]): Found[] {
      const erased = found.filter(({ erased_at }) => erased_at !== null);
      const known = found.filter(({ erased_at }) => erased_at === null);
      const before = erased.map((each) => ({ ...each, key: keyOfDigest.get(each.key) ?? each.key }));
      return [...new Map([...before, ...known].map((each) => [each.key, each])).values()];
    },
  };
}

/** Selects the participants of an organization whom a report names. Each half has an index. */
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

/** Selects those participants, by id: whichever rooms of the organization they are in. */
export const selectParticipantsByKeys = (organization_id: Value<number>, named: Values<NamedValues>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(inArray(participants.id, participantIdsByKeys(organization_id, named)))
    .orderBy(participants.id);

/** The participants whom a report names, in the organization of the room that has or had the slug. */
export const participantsOfRoom = preparedQuery((report: Placeholders<{ slug: string } & NamedValues>) =>
  selectParticipantsByKeys(organizationOfAnySlug(report.slug), report),
);

/** The visits of that organization with these ids. */
export const visitsOfRoom = preparedQuery(
  ({ slug, visit_ids }: Placeholders<{ slug: string; visit_ids: string }>) =>
    selectNamedVisits(organizationOfAnySlug(slug), visit_ids),
);

/** The membership of a user in the organization of the room that has or had the slug. */
export const memberOfRoom = preparedQuery(
  ({ slug, user_id }: Placeholders<{ slug: string; user_id: number | null }>) =>
    memberOf(organizationOfAnySlug(slug), user_id),
);

const endedCalls = alias(calls, "ended_call");

/**
 * True for whom only a room's name brought to the call, and who joined after its end: they were on a later one. The end may be
 * told after they joined, and corrected.
 */
export const isOfLaterCall = () =>
  exists(
    selectColumn(
      endedCalls.id,
      eq(endedCalls.id, participants.call_id),
      lt(endedCalls.ended_at, participants.joined_by_name_at),
    ),
  );

/** True for those on the call of the path. */
export const isOnCallOfPath = (call: Values<ReachedCall>): SQL | undefined =>
  and(eq(participants.call_id, callIdOfPath(call)), not(isOfLaterCall()));

/** Those on the call of the path. */
export const participantsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(isOnCallOfPath(call))
    .orderBy(asc(participants.id)),
);

/** The entries of erasures, of the participants that a condition selects. */
export const erasureEntries = entriesWhere("participant", participants, subjectOfCall(participants));
