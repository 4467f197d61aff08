import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { ReferenceSource } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { visits } from "../../rooms/visits/visits.table.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";

/**
 * - `end_is_assumed`: no report said when the call ended, so the cron set the end to the latest known time of the call.
 * - `visit_id`: the planned visit of the first participant who came with a visit's link.
 * - `visit_holder_id`: a copy of the holder of that visit, so that the list of calls finds the calls that others held. A trigger updates it.
 * - `external_reference`: the organization's own id for the visit.
 * - `reference_said_by`: null until the platform or the organization has said whether there is a reference.
 * - `failed`: null until a report says whether the call failed.
 * - `reported_at`: when the platform's newest report was made; 0 if only an observer has reported. Participants, transcripts and SOAP notes
 *   have this column too (see rooms/report.ts).
 * - `transcript_deleted_at`, `soap_note_deleted_at`, `recordings_deleted_at`, `reference_erased_at`: tombstones, which keep reports from
 *   bringing back deleted data. Triggers set them (see call_texts.triggers.sql, egresses.triggers.sql and calls.triggers.sql), and so does
 *   the erasure of a person with all texts.
 * - `results_awaited_since`: when the service learned that the call has ended; null before that, and once its results were announced as
 *   ready.
 */
export const calls = sqliteTable(
  "calls",
  {
    id: idColumn(),
    organization_id: organizationId(),
    key: text().notNull(),
    organization_user_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    visit_id: integer(),
    visit_holder_id: integer(),
    started_at: integer().notNull(),
    ended_at: integer(),
    end_is_assumed: integer({ mode: "boolean" }).notNull().default(false),
    failed: integer({ mode: "boolean" }),
    external_reference: text(),
    reference_said_by: text().$type<ReferenceSource>(),
    reported_at: integer().notNull().default(0),
    transcript_deleted_at: integer(),
    soap_note_deleted_at: integer(),
    recordings_deleted_at: integer(),
    reference_erased_at: integer(),
    results_awaited_since: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("calls_by_organization").on(t.organization_id, t.id),
    uniqueIndex("calls_by_key").on(t.organization_id, t.key),
    index("calls_newest").on(t.organization_user_id, t.started_at, t.id),
    index("calls_newest_of_visit_holder")
      .on(t.visit_holder_id, t.started_at, t.id)
      .where(sql`visit_holder_id <> organization_user_id`),
    index("calls_newest_of_organization").on(t.organization_id, t.started_at, t.id),
    index("calls_by_reference")
      .on(t.organization_id, t.external_reference, t.started_at, t.id)
      .where(sql`external_reference is not null`),
    // For the cron: calls whose reference may have to be erased.
    index("calls_with_reference")
      .on(t.organization_id, t.ended_at)
      .where(sql`external_reference is not null`),
    // To correct their references with their visit's.
    index("calls_of_visit").on(t.visit_id).where(sql`visit_id is not null`),
    index("calls_ongoing").on(t.waiting_room_id).where(sql`ended_at is null`),
    // For the cron: calls that nobody has reported on for a long time.
    index("calls_unended").on(t.organization_id, t.updated_at).where(sql`ended_at is null`),
    // For the cron: ended calls whose results were not announced yet.
    index("calls_awaiting_results")
      .on(t.organization_id, t.results_awaited_since)
      .where(sql`results_awaited_since is not null`),
    withinOrganization(t, t.organization_user_id, organizationUsers),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.visit_id, visits),
  ],
);
