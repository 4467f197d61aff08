import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { ParticipantRole } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { visits } from "../visits/visits.table.ts";

/**
 * One record for each person who takes part: a planned participant of a visit with all their calls, or a participant with a key of their
 * own. The names and references of people are stored here and nowhere else.
 *
 * - `visit_id`, `number`: the visit that plans them, and their id in it. `number` is null once they were removed from the visit.
 * - `reference_digest`: the keyed digest of `external_reference`. Triggers store it when the reference changes (see people.triggers.sql).
 * - `said`: the fields that the organization has set, with commas between them: no report changes them.
 * - `cleared`: the fields that reports have cleared, in the same format. Other fields that are null are not known.
 * - `assumed`: those of the fields `display_name` and `role` that nobody has reported, in the same format.
 * - `visit_starts_at`, `over_at`: triggers maintain them (see people.triggers.sql). `over_at` is the time from which retention counts; null
 *   while the person is waiting or on a call, and if there is nothing left to erase.
 */
export const people = sqliteTable(
  "people",
  {
    id: idColumn(),
    organization_id: organizationId(),
    visit_id: integer(),
    number: integer(),
    visit_starts_at: integer(),
    display_name: text().notNull(),
    role: text().$type<ParticipantRole>().notNull(),
    user_id: integer(),
    external_reference: text(),
    reference_digest: text(),
    said: text(),
    cleared: text(),
    assumed: text(),
    reported_at: integer().notNull().default(0),
    over_at: integer(),
    erased_at: integer(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("people_by_organization").on(t.organization_id, t.id),
    uniqueIndex("people_of_visit").on(t.visit_id, t.number).where(sql`visit_id is not null`),
    // In the order of the list of visits.
    index("people_by_reference")
      .on(t.organization_id, t.reference_digest, t.visit_starts_at, t.visit_id)
      .where(sql`reference_digest is not null`),
    // For the cron.
    index("people_to_erase").on(t.organization_id, t.over_at).where(sql`over_at is not null`),
    withinOrganization(t, t.visit_id, visits),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

/** The keyed digests of the references that people had before. Triggers store them, so that searches still find these people. */
export const formerReferences = sqliteTable(
  "former_references",
  { organization_id: organizationId(), reference_digest: text().notNull(), person_id: integer().notNull() },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.reference_digest, t.person_id] }),
    withinOrganization(t, t.person_id, people),
  ],
);
