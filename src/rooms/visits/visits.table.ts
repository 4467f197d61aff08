import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { quarters } from "../../calls/call_metrics/call_metrics.table.ts";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { VisitStatus } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { waitingRooms } from "../waiting_rooms/waiting_rooms.table.ts";

/**
 * Visits that an organization plans. visits.merge.ts decides how their status changes.
 *
 * - `organization_user_id`: the holder of the visit; null for a visit of everybody, in an organization's room.
 * - `corrections`: the number of changes of its participants, which are in `people`.
 * - `reference_erased_at`: a tombstone, which keeps an erased reference from coming back.
 */
export const visits = sqliteTable(
  "visits",
  {
    id: idColumn(),
    organization_id: organizationId(),
    waiting_room_id: integer().notNull(),
    organization_user_id: integer(),
    external_reference: text(),
    status: text().$type<VisitStatus>().notNull(),
    starts_at: integer().notNull(),
    ends_at: integer().notNull(),
    last_participant_id: integer().notNull(),
    cancelled_at: integer(),
    corrections: integer().notNull().default(0),
    reference_erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("visits_by_organization").on(t.organization_id, t.id),
    // For the list and its filters.
    index("visits_by_start").on(t.organization_id, t.starts_at, t.id),
    index("visits_by_status").on(t.organization_id, t.status, t.starts_at, t.id),
    index("visits_of_holder").on(t.organization_id, t.organization_user_id, t.starts_at, t.id),
    index("visits_of_holder_by_status").on(
      t.organization_id,
      t.organization_user_id,
      t.status,
      t.starts_at,
      t.id,
    ),
    index("visits_by_reference")
      .on(t.organization_id, t.external_reference, t.starts_at, t.id)
      .where(sql`external_reference is not null`),
    // For the cron.
    index("visits_open").on(t.organization_id, t.ends_at).where(sql`status in ('planned', 'started')`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.organization_user_id, organizationUsers),
  ],
);

/**
 * The number of visits by start date and current status, for each holder, and for all visits as WHOLE_ORGANIZATION, each by room, and
 * for ALL_ROOMS. Triggers on visits maintain the rows (see visit_daily_metrics.triggers.sql): nothing else writes here.
 */
export const visitDailyMetrics = sqliteTable(
  "visit_daily_metrics",
  {
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    /** The UTC date on which the visits start, as `YYYY-MM-DD`; empty for all dates of the whole organization. */
    date: text().notNull(),
    planned: integer().notNull(),
    /** Visits that have started. */
    held: integer().notNull(),
    missed: integer().notNull(),
    cancelled: integer().notNull(),
    quarters: quarters(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.organization_user_id, t.waiting_room_id, t.date] })],
);
