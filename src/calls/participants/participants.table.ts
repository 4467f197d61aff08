import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { people } from "../../rooms/people/people.table.ts";
import { visits } from "../../rooms/visits/visits.table.ts";
import { waitingRooms } from "../../rooms/waiting_rooms/waiting_rooms.table.ts";
import { calls } from "../calls/calls.table.ts";

/**
 * Participations: people in a waiting room, then on a call.
 *
 * - `person_id`: their record, with their name and reference.
 * - `call_started_at`, `reference_digest`: copies of the call's `started_at` and of the person's digest. Triggers maintain them (see
 *   copies.triggers.sql).
 * - `visit_id`: the planned visit by whose link the person first came.
 * - `recording_consent`: the decision in `consents` that counts; null if the person was not asked. Triggers maintain it (see
 *   recording_consents.triggers.sql): nothing else changes it.
 * - `left_is_assumed`: no report said that the person left, but the cron ended the wait or the call, or its room was closed.
 * - `earlier_stay_until`: the latest time of the previous stay; null if none is known. It shows whether a late report belongs to that
 *   stay, or corrects the current one (see participants.stays.ts).
 * - `cleared`: the times that reports have cleared, with commas between them. Other times that are null are not known.
 * - `erased_at`: once it is set, `key` is a keyed digest of the reporter's key (`namedKeys` in participants.sql.ts). A late report is
 *   recognized by it.
 */
export const participants = sqliteTable(
  "participants",
  {
    id: idColumn(),
    organization_id: organizationId(),
    key: text().notNull(),
    waiting_room_id: integer().notNull(),
    call_id: integer(),
    call_started_at: integer(),
    visit_id: integer(),
    person_id: integer().notNull(),
    reference_digest: text(),
    waiting_since: integer(),
    joined_at: integer(),
    left_at: integer(),
    left_is_assumed: integer({ mode: "boolean" }).notNull().default(false),
    recording_consent: integer({ mode: "boolean" }),
    earlier_stay_until: integer(),
    cleared: text(),
    reported_at: integer().notNull().default(0),
    erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("participants_by_key").on(t.organization_id, t.key).where(sql`erased_at is null`),
    // Not unique: after an erasure, the same key gets a new row, which may be erased too.
    index("participants_erased").on(t.organization_id, t.key).where(sql`erased_at is not null`),
    index("participants_of_person").on(t.person_id),
    uniqueIndex("participants_by_organization").on(t.organization_id, t.id),
    // The index includes the consent, which decides whether recordings can be seen.
    index("participants_on_call").on(t.call_id, t.recording_consent).where(sql`call_id is not null`),
    index("participants_of_visit").on(t.visit_id, t.call_id).where(sql`visit_id is not null`),
    // For the list of calls.
    index("participants_by_reference")
      .on(t.organization_id, t.reference_digest, t.call_started_at, t.call_id)
      .where(sql`reference_digest is not null`),
    // The waiting participants of a room, longest wait first.
    index("participants_present")
      .on(t.waiting_room_id, t.call_id, t.waiting_since, t.id)
      .where(sql`left_at is null`),
    // For the cron: waiting participants that nobody has reported on for a long time.
    index("participants_waiting")
      .on(t.organization_id, t.updated_at)
      .where(sql`left_at is null and call_id is null`),
    withinOrganization(t, t.waiting_room_id, waitingRooms),
    withinOrganization(t, t.call_id, calls),
    withinOrganization(t, t.visit_id, visits),
    withinOrganization(t, t.person_id, people),
  ],
);
