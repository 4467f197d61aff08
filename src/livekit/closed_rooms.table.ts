import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { timestamps } from "../database/columns.ts";
import { organizationId } from "../organization/organizations/organizations.table.ts";

/** The time when LiveKit closed a room without a known call. Events of its participants may still arrive. */
export const closedRooms = sqliteTable(
  "closed_rooms",
  {
    organization_id: organizationId(),
    room_sid: text().notNull(),
    closed_at: integer().notNull(),
    ...timestamps,
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.room_sid] }),
    index("closed_rooms_by_age").on(t.organization_id, t.updated_at),
  ],
);
