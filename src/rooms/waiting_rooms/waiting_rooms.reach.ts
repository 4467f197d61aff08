import { eq, exists, isNull, or } from "drizzle-orm";
import { builder, type Placeholders, preparedQuery, type Values } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { type Reach, withinReach } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { ownRoom } from "./waiting_rooms.sql.ts";
import { waitingRooms } from "./waiting_rooms.table.ts";

export interface ReachedRoom extends Reach {
  slug: string;
}

/** Selects the id of the room in the path. A personal room is found only if the caller reaches its owner. */
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
