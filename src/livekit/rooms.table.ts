import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { timestamps } from "../database/columns.ts";
import { organizationId } from "../organization/organizations/organizations.table.ts";

/*
 * The memory of LiveKit's events about a room, which later events need. Nothing outside this folder reads it, and the cron deletes it
 * 30 days after the last event.
 */

/**
 * - `closed_at`: when LiveKit closed the room.
 * - `call_ended_at`: the end that events gave the call. If the call has another end, the platform has reported that.
 */
export const livekitRooms = sqliteTable(
  "livekit_rooms",
  {
    organization_id: organizationId(),
    room_sid: text().notNull(),
    closed_at: integer().notNull(),
    call_ended_at: integer(),
    ...timestamps,
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.room_sid] }),
    index("livekit_rooms_by_age").on(t.organization_id, t.updated_at),
  ],
);

/**
 * One connection of a person: when it began, when it ended (null while it lasts, or until an event reports its end), and whether the
 * person came. An unanswered phone has a connection too.
 */
export type Connection = [joined_at: number, left_at: number | null, came: boolean];

/** The connections of each person in a room. `key_digest` is a keyed digest of the participant's key. */
export const livekitVisitors = sqliteTable(
  "livekit_visitors",
  {
    organization_id: organizationId(),
    room_sid: text().notNull(),
    key_digest: text().notNull(),
    connections: text({ mode: "json" }).$type<Connection[]>().notNull(),
    ...timestamps,
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.room_sid, t.key_digest] }),
    index("livekit_visitors_by_age").on(t.organization_id, t.updated_at),
  ],
);
