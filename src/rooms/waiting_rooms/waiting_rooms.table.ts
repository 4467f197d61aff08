import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, slugParts, timestamps, withinOrganization } from "../../database/columns.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * `user_id` is the owner of a personal room; null for an organization's room. `name_key` is the name in the form in which rooms are
 * searched: without case. A retired room keeps its row.
 */
export const waitingRooms = sqliteTable(
  "waiting_rooms",
  {
    id: idColumn(),
    organization_id: organizationId(),
    user_id: integer(),
    name: text().notNull(),
    name_key: text().notNull(),
    slug: text().notNull(),
    theme: text().notNull(),
    is_active: integer({ mode: "boolean" }).notNull(),
    retired_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("waiting_rooms_by_slug").on(t.slug).where(sql`retired_at is null`),
    uniqueIndex("waiting_rooms_by_owner").on(t.organization_id, t.user_id).where(sql`user_id is not null`),
    uniqueIndex("waiting_rooms_by_organization").on(t.organization_id, t.id),
    // For the list and its filters.
    index("waiting_rooms_listed").on(t.organization_id, t.id).where(sql`retired_at is null`),
    index("waiting_rooms_by_name").on(t.organization_id, t.name_key, t.id).where(sql`retired_at is null`),
    index("waiting_rooms_by_activity")
      .on(t.organization_id, t.is_active, t.id)
      .where(sql`retired_at is null`),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/**
 * Every slug that a room ever had, so that no slug is given out again, not even to the same room. Triggers maintain the rows (see
 * waiting_rooms.triggers.sql): nothing else writes here.
 */
export const waitingRoomSlugs = sqliteTable(
  "waiting_room_slugs",
  {
    slug: text().primaryKey(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    ...slugParts(),
  },
  (t) => [
    index("waiting_room_slugs_by_stem").on(t.slug_stem, t.slug_number),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
  ],
);
