import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { waitingRooms } from "../waiting_rooms/waiting_rooms.table.ts";

/** The subs of a room never overlap, so they have the same order by end as by start. */
export const waitingRoomSubs = sqliteTable(
  "waiting_room_subs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    user_id: integer(),
    datetime_start: integer().notNull(),
    datetime_end: integer().notNull(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("waiting_room_subs_by_end").on(t.waiting_room_id, t.datetime_end),
    // For a user who loses their personal room.
    index("waiting_room_subs_held").on(t.organization_id, t.user_id).where(sql`user_id is not null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);
