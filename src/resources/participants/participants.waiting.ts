import { and, asc, eq, exists, gt, isNull, lte, notExists, or, sql } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { organizationUsers, participants, waitingListReads, waitingRooms } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import { MAX_LISTED_WAITING } from "../../limits.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { memberOf, type Reach, withinReach } from "../organization_users/organization_users.sql.ts";
import { ownRoom } from "../waiting_rooms/waiting_rooms.sql.ts";
import { participantColumns } from "./participants.sql.ts";

/** The room that a path names, and who asks, as values of a query. */
export interface ReachedRoom extends Reach {
  slug: string;
}

/** The id of the room of the path: a personal one only where the caller reaches its owner. */
export const roomWithinReach = (room: Values<ReachedRoom>) => {
  const owner = selectColumn(
    organizationUsers.id,
    eq(organizationUsers.id, waitingRooms.user_id),
    withinReach(room),
  );
  return selectColumn(
    waitingRooms.id,
    ownRoom(room.organization_id, room.slug),
    or(isNull(waitingRooms.user_id), exists(owner)),
  );
};

export const roomOfPath = preparedQuery((room: Placeholders<ReachedRoom>) =>
  builder
    .select({ id: waitingRooms.id, user_id: waitingRooms.user_id })
    .from(waitingRooms)
    .where(eq(waitingRooms.id, roomWithinReach(room))),
);

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

/** Who reads who waits, and before when the last such read was recorded that is too long ago, as values of a query. */
interface WaitingRead extends ReachedRoom {
  api_client_id: number;
  /** Empty where the client does not say it; so is the purpose. */
  acting_user: string;
  purpose: string;
  now: number;
  recorded_before: number;
}

/** The entry of the access log, unless the same read was recorded lately. */
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

/** Runs after the entry was written, or was not. */
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
