import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parentId, timestamps } from "../../database/columns.ts";

/**
 * The `…_retention_days` say how many days after the end of their call or visit recordings and transcripts are deleted, and the names
 * of participants erased; null keeps them forever. If `require_acting_user` is set, clients must name the person for whom they read
 * data whose reads the access log records. While `is_suspended` is set, the organization's clients are refused, nobody is let in, and
 * webhooks, mails and rows of bulk invites wait. Id and slug come from the organization's row in `places`.
 */
export const organizations = sqliteTable(
  "organizations",
  {
    id: integer().primaryKey(),
    name: text().notNull(),
    /** The name that mails show: the last name that the platform has set. If it is empty, mails show none. */
    mail_name: text().notNull().default(""),
    slug: text().notNull().unique(),
    recording_retention_days: integer(),
    transcript_retention_days: integer(),
    participant_retention_days: integer(),
    require_acting_user: integer({ mode: "boolean" }).notNull().default(false),
    /** An IANA name; null for UTC. */
    time_zone: text(),
    /** null for the service's own namespace: see handover/fhir_bundles. */
    patient_identifier_system: text(),
    is_suspended: integer({ mode: "boolean" }).notNull().default(false),
    ...timestamps,
  },
  (t) => [
    // For the cron.
    index("organizations_deleting_recordings")
      .on(t.recording_retention_days)
      .where(sql`recording_retention_days is not null`),
    index("organizations_deleting_transcripts")
      .on(t.transcript_retention_days)
      .where(sql`transcript_retention_days is not null`),
    index("organizations_erasing_participants")
      .on(t.participant_retention_days)
      .where(sql`participant_retention_days is not null`),
  ],
);

export const organizationId = () => parentId(() => organizations.id);
