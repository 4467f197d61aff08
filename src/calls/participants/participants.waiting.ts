import { and, asc, eq, gt, isNull, lte, notExists, sql } from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { waitingListReads } from "../../audit/access_logs/access_logs.table.ts";
import { hasValues } from "../../database/expressions.ts";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { memberOf } from "../../organization/members/members.sql.ts";
import { people } from "../../rooms/people/people.table.ts";
import { type ReachedRoom, roomWithinReach } from "../../rooms/waiting_rooms/waiting_rooms.reach.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";
import { isRecordOf, shownColumns } from "./participants.sql.ts";
import { participants } from "./participants.table.ts";

/** The participants waiting in the room, longest first. Every waiting participant has a `waiting_since`. */
export const participantsWaiting = preparedQuery((room: Placeholders<ReachedRoom>) =>
  builder
    .select({
      ...shownColumns,
      waiting_since: sql<number>`${participants.waiting_since}`.as("waiting_since"),
    })
    .from(participants)
    .innerJoin(people, isRecordOf)
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

interface WaitingRead extends ReachedRoom {
  api_client_id: number;
  /** Empty if the client does not name one. */
  acting_user: string;
  /** Empty if the client does not state one. */
  purpose: string;
  now: number;
  /** A read is recorded again if its last entry is from this time or earlier. */
  recorded_before: number;
}

/** The access log entry, unless the same read was recorded recently. */
export const waitingEntry = entriesWhere("waiting_room", waitingRooms, {
  organization_id: waitingRooms.organization_id,
  organization_user_id: memberOf(waitingRooms.organization_id, waitingRooms.user_id),
})((read: Placeholders<WaitingRead>) => {
  const lately = selectColumn(
    waitingListReads.recorded_at,
    hasValues(waitingListReads, {
      api_client_id: read.api_client_id,
      waiting_room_id: waitingRooms.id,
      acting_user: read.acting_user,
      purpose: read.purpose,
    }),
    gt(waitingListReads.recorded_at, read.recorded_before),
  );
  return and(eq(waitingRooms.id, roomWithinReach(read)), notExists(lately));
});

/** Must run after `waitingEntry`, whether or not that writes an entry. */
export const rememberWaitingRead = preparedQuery((read: Placeholders<WaitingRead>) =>
  insertSelect(
    waitingListReads,
    {
      organization_id: waitingRooms.organization_id,
      api_client_id: read.api_client_id,
      waiting_room_id: waitingRooms.id,
      acting_user: read.acting_user,
      purpose: read.purpose,
      recorded_at: read.now,
    },
    { from: waitingRooms, where: eq(waitingRooms.id, roomWithinReach(read)) },
  ).onConflictDoUpdate({
    target: [
      waitingListReads.api_client_id,
      waitingListReads.waiting_room_id,
      waitingListReads.acting_user,
      waitingListReads.purpose,
    ],
    set: { recorded_at: excluded(waitingListReads.recorded_at) },
    setWhere: lte(waitingListReads.recorded_at, read.recorded_before),
  }),
);
