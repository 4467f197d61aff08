import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { ParticipantRole, VisitStatus } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { waitingRooms } from "../waiting_rooms/waiting_rooms.table.ts";

/** A person invited to a visit, who has a link. Ids are 1, 2, …, and the id of a removed participant is not used again. */
interface VisitParticipant {
  id: number;
  role: ParticipantRole;
  display_name: string;
  /** Set for a person with an account in the organization. */
  user_id: number | null;
  external_reference: string | null;
}

/**
 * Visits that an organization plans. visits.merge.ts decides how their status changes.
 *
 * - `organization_user_id`: the holder of the visit; null for a visit of everybody, in an organization's room.
 * - `calls_ended_at`: the end of the visit's last call; null without a call, and while a call is running. Triggers maintain it (see
 *   retention.triggers.sql).
 * - `over_at`: the time from which retention counts, which is the earliest of the cancellation, the end of the last call, and
 *   `ends_at`; null until then.
 * - `erased_at`: set once the names and references are erased.
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
    participants: text({ mode: "json" }).$type<VisitParticipant[]>().notNull(),
    last_participant_id: integer().notNull(),
    cancelled_at: integer(),
    calls_ended_at: integer(),
    over_at: integer().generatedAlwaysAs(
      sql`case status when 'planned' then null when 'cancelled' then min(cancelled_at, ends_at)
        when 'started' then min(calls_ended_at, ends_at)
        when 'ended' then min(coalesce(calls_ended_at, ends_at), ends_at) else ends_at end`,
    ),
    erased_at: integer(),
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
    index("visits_to_erase")
      .on(t.organization_id, t.over_at)
      .where(sql`over_at is not null and erased_at is null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.organization_user_id, organizationUsers),
  ],
);

/**
 * Keyed digests of the references of all people whom a visit names or has named. They are kept when names are erased and participants
 * removed, so that a search of the access log still finds the visit. `is_erased` is set once the person was erased on request, and
 * cleared if the visit names them again.
 */
export const visitReferences = sqliteTable(
  "visit_references",
  {
    organization_id: organizationId(),
    reference_digest: text().notNull(),
    visit_id: integer().notNull(),
    is_erased: integer({ mode: "boolean" }).notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.reference_digest, t.visit_id] }),
    index("visit_references_to_erase")
      .on(t.organization_id, t.reference_digest, t.visit_id)
      .where(sql`not is_erased`),
    withinOrganization(t, t.visit_id, visits),
  ],
);

/**
 * The number of visits by start date and current status, for each holder, and for all visits as WHOLE_ORGANIZATION. Triggers on
 * visits maintain the rows (see visit_daily_metrics.triggers.sql): nothing else writes here.
 */
export const visitDailyMetrics = sqliteTable(
  "visit_daily_metrics",
  {
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    /** The UTC date on which the visits start, as `YYYY-MM-DD`; empty for all dates of the whole organization. */
    date: text().notNull(),
    planned: integer().notNull(),
    /** Visits that have started. */
    held: integer().notNull(),
    missed: integer().notNull(),
    cancelled: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.organization_user_id, t.date] })],
);
