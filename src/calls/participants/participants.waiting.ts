import { and, asc, eq, exists, gt, isNull, notExists, or, sql } from "drizzle-orm";
import { accessEntries, idsIn } from "../../audit/access_logs/access_logs.entries.ts";
import { accessLogs } from "../../audit/access_logs/access_logs.table.ts";
import type { Requester } from "../../context.ts";
import { isSame } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { memberOf } from "../../organization/members/members.sql.ts";
import { people } from "../../rooms/people/people.table.ts";
import { type ReachedRoom, roomWithinReach } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";
import { isRecordOf, shownColumns } from "./participants.sql.ts";
import { participants } from "./participants.table.ts";

const isWaiting = (room: Placeholders<ReachedRoom>) =>
  and(
    eq(participants.waiting_room_id, roomWithinReach(room)),
    isNull(participants.call_id),
    isNull(participants.left_at),
  );

const longestFirst = [asc(participants.waiting_since), asc(participants.id)];

/** Every waiting participant has a `waiting_since`. */
export const participantsWaiting = preparedQuery((room: Placeholders<ReachedRoom>) =>
  builder
    .select({
      ...shownColumns,
      waiting_since: sql<number>`${participants.waiting_since}`.as("waiting_since"),
    })
    .from(participants)
    .innerJoin(people, isRecordOf)
    .where(isWaiting(room))
    .orderBy(...longestFirst)
    .limit(MAX_LISTED_WAITING),
);

interface WaitingRead extends ReachedRoom, Pick<Requester, "acting_user" | "purpose"> {
  api_client_id: number;
  recorded_before: number;
}

/**
 * The entry about the list, unless the same reader's entries of the last minute name everybody who is waiting: clients poll the list
 * every few seconds.
 */
export const waitingEntry = accessEntries("waiting_room", (read: Placeholders<WaitingRead>) => {
  const waiting = selectColumn(participants.id, isWaiting(read))
    .orderBy(...longestFirst)
    .limit(MAX_LISTED_WAITING);
  const recent = selectColumn(
    accessLogs.shown,
    eq(accessLogs.api_client_id, read.api_client_id),
    eq(accessLogs.resource_id, roomWithinReach(read)),
    isSame(accessLogs.acting_user, read.acting_user),
    isSame(accessLogs.purpose, read.purpose),
    gt(accessLogs.at, read.recorded_before),
    // The index's WHERE.
    sql`${accessLogs.resource} = 'waiting_room'`,
  );
  const newcomers = sql`(select id from ${waiting} where id not in
    (select named.value from ${recent} as recent, json_each(recent.shown) as named))`;
  return {
    organization_id: waitingRooms.organization_id,
    resource_id: waitingRooms.id,
    organization_user_id: memberOf(waitingRooms.organization_id, waitingRooms.user_id),
    shown: idsIn(waiting),
    from: waitingRooms,
    where: and(eq(waitingRooms.id, roomWithinReach(read)), or(notExists(recent), exists(newcomers))),
  };
});
