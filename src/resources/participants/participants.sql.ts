import {
  and,
  asc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  notExists,
  or,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { insertSelect } from "../../database/insert.ts";
import { manyRowWrites } from "../../database/many_row_writes.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { organizationUsers, participants, waitingListReads, waitingRooms } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { listEntry, subjectOfCall } from "../access_logs/access_logs.calls.ts";
import { accessEntries } from "../access_logs/access_logs.entries.ts";
import {
  callIdByKey,
  callIdOfPath,
  type NamedCall,
  organizationOfReport,
  type ReachedCall,
} from "../calls/calls.sql.ts";
import { memberOf, type Reach, withinReach } from "../organization_users/organization_users.sql.ts";
import { organizationOfAnySlug } from "../waiting_rooms/waiting_rooms.slugs.ts";
import { ownRoom } from "../waiting_rooms/waiting_rooms.sql.ts";

export const participantColumns = getTableColumns(participants);

export const participantWrites = tableWrites(participants, participantColumns);

/** The latest time that is known of a participant. */
export const latestTime = sql<number>`max(${sql.join(
  [participants.waiting_since, participants.joined_at, participants.left_at].map(
    (time) => sql`coalesce(${time}, 0)`,
  ),
  sql`, `,
)})`;

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
    call_id: (of) => sql`coalesce(${of("call_id")}, ${callIdByKey(of("call_key"))})`,
  },
  sql`erased_at is null`,
);

/** Takes participants to a call of whom the report may change nothing else. `ids` is a JSON array. */
export const joinErased = preparedQuery(
  ({ ids, call_key }: Placeholders<{ ids: string; call_key: string }>) =>
    builder
      .update(participants)
      .set({ call_id: sql`${callIdByKey(call_key)}` })
      .where(and(inArray(participants.id, jsonValues(ids)), isNull(participants.call_id))),
);

/** The keys that a report names, and the digests of those of them whose participants are erased: JSON arrays. */
export interface NamedKeys {
  keys: string;
  digests: string;
}

/** True for the participants of an organization whom a report names. Each half has an index. */
function isNamed(organization_id: SQL, { keys, digests }: Placeholders<NamedKeys>): SQL {
  const idsOf = (isErased: SQL, list: Placeholder) =>
    builder
      .select({ id: participants.id })
      .from(participants)
      .where(
        and(
          eq(participants.organization_id, organization_id),
          isErased,
          inArray(participants.key, jsonValues(list)),
        ),
      );
  const { erased_at } = participants;
  return inArray(
    participants.id,
    unionAll(idsOf(isNull(erased_at), keys), idsOf(isNotNull(erased_at), digests)),
  );
}

/** True for participants whom a report of a call names. */
export const namedInReport = (report: Placeholders<NamedCall & NamedKeys>) =>
  isNamed(organizationOfReport(report), report);

export const participantsOfReport = preparedQuery((report: Placeholders<NamedCall & NamedKeys>) =>
  builder.select(participantColumns).from(participants).where(namedInReport(report)).orderBy(participants.id),
);

/**
 * Those on a call who have not left it, as far as a report said so: those too whose leaving was assumed. Nobody for an
 * empty key, which no call has.
 */
export const participantsPresent = preparedQuery(({ call_key }: Placeholders<{ call_key: string }>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(
      and(
        eq(participants.call_id, callIdByKey(call_key)),
        or(isNull(participants.left_at), participants.left_is_assumed),
      ),
    )
    .orderBy(participants.id),
);

/**
 * The participants with these keys, in the organization of the room that has or had the slug: whichever rooms of it they
 * are in.
 */
export const participantsOfRoom = preparedQuery((report: Placeholders<{ slug: string } & NamedKeys>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(isNamed(sql`${organizationOfAnySlug(report.slug)}`, report))
    .orderBy(participants.id),
);

/** The membership of a user in the organization of the room that has or had the slug. */
export const memberOfRoom = preparedQuery(
  ({ slug, user_id }: Placeholders<{ slug: string; user_id: number | null }>) =>
    memberOf(organizationOfAnySlug(slug), user_id),
);

/** Those on the call of the path. */
export const participantsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(participantColumns)
    .from(participants)
    .where(eq(participants.call_id, callIdOfPath(call)))
    .orderBy(asc(participants.id)),
);

/** The room that a path names, and who asks who waits there, as values of a query. */
interface ReachedRoom extends Reach {
  slug: string;
}

/** The room of the path: a personal one only where the caller reaches its owner. */
const roomWithinReach = (room: Placeholders<ReachedRoom>) => {
  const owner = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(and(eq(organizationUsers.user_id, waitingRooms.user_id), withinReach(room)));
  return builder
    .select({ id: waitingRooms.id })
    .from(waitingRooms)
    .where(and(ownRoom(room.organization_id, room.slug), or(isNull(waitingRooms.user_id), exists(owner))));
};

export const roomOfPath = preparedQuery((room: Placeholders<ReachedRoom>) => roomWithinReach(room));

/** Who waits in the room of the path, longest first. Nobody waits who did not begin to. */
export const participantsWaiting = preparedQuery((room: Placeholders<ReachedRoom>) =>
  builder
    .select({
      ...participantColumns,
      waiting_since: sql<number>`${participants.waiting_since}`.as("waiting_since"),
    })
    .from(participants)
    .where(
      and(
        eq(participants.waiting_room_id, roomWithinReach(room)),
        isNull(participants.call_id),
        isNull(participants.left_at),
      ),
    )
    .orderBy(asc(participants.waiting_since), asc(participants.id))
    .limit(MAX_LISTED_WAITING),
);

export const participantsEntry = listEntry("participant");

/** Who reads who waits, and before when the last such read was recorded that is too long ago, as values of a query. */
interface WaitingRead extends ReachedRoom {
  api_client_id: number;
  /** Empty where the client names nobody. */
  acting_user: string;
  now: number;
  recorded_before: number;
}

/** The entry of the access log, unless the same read was recorded lately. */
export const waitingEntry = accessEntries("participant", (read: Placeholders<WaitingRead>) => {
  const lately = builder
    .select({ recorded_at: waitingListReads.recorded_at })
    .from(waitingListReads)
    .where(
      and(
        eq(waitingListReads.api_client_id, read.api_client_id),
        eq(waitingListReads.waiting_room_id, waitingRooms.id),
        eq(waitingListReads.acting_user, read.acting_user),
        gt(waitingListReads.recorded_at, read.recorded_before),
      ),
    );
  const owner = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(
      and(
        eq(organizationUsers.organization_id, waitingRooms.organization_id),
        eq(organizationUsers.user_id, waitingRooms.user_id),
      ),
    );
  return {
    organization_id: sql<number>`${waitingRooms.organization_id}`,
    organization_user_id: sql<number | null>`${owner}`,
    from: sql`from ${waitingRooms} where ${waitingRooms.id} = ${roomWithinReach(read)} and ${notExists(lately)}`,
  };
});

/** Runs after the entry was written, or was not. */
export const rememberWaitingRead = preparedQuery((read: Placeholders<WaitingRead>) =>
  insertSelect(
    waitingListReads,
    {
      organization_id: waitingRooms.organization_id,
      api_client_id: read.api_client_id,
      waiting_room_id: waitingRooms.id,
      acting_user: read.acting_user,
      recorded_at: read.now,
    },
    sql`from ${waitingRooms} where ${waitingRooms.id} = ${roomWithinReach(read)}`,
  ).onConflictDoUpdate({
    target: [waitingListReads.api_client_id, waitingListReads.waiting_room_id, waitingListReads.acting_user],
    set: { recorded_at: sql`${read.now}` },
    setWhere: lte(waitingListReads.recorded_at, read.recorded_before),
  }),
);

/** The entries of erasures, of the participants that a condition selects. */
export const erasureEntries = <Values extends object>(
  condition: (values: Placeholders<Values>) => SQL | undefined,
) =>
  accessEntries<Values>("participant", (values) => ({
    ...subjectOfCall(participants),
    resource_id: sql<number>`${participants.id}`,
    from: sql`from ${participants} where ${condition(values)}`,
  }));
