import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { name, timestamp } from "../../http/wire.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH, MAX_RETENTION_DAYS } from "../../limits.ts";
import type { organizationSchema } from "./organizations.responses.ts";
import type { organizationColumns } from "./organizations.sql.ts";

const slug = z
  .string()
  .regex(
    new RegExp(`^[a-z0-9-]{1,${MAX_ORGANIZATION_SLUG_LENGTH}}$`),
    `must be 1 to ${MAX_ORGANIZATION_SLUG_LENGTH} characters of a-z, 0-9 and -`,
  )
  .refine((slug) => !slug.includes("--"), "must not contain --, which ends it in the slugs of waiting rooms");

export const createOrganizationBody = z.object({
  organization: z.object({ name, slug: slug.optional() }),
});

const RETENTION = `must be a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or null for good`;

const retentionDays = z
  .int({ error: RETENTION, abort: true })
  .min(1, RETENTION)
  .max(MAX_RETENTION_DAYS, RETENTION)
  .nullish();

export const updateOrganizationBody = z.object({
  organization: z.object({
    name: name.optional(),
    recording_retention_days: retentionDays,
    transcript_retention_days: retentionDays,
  }),
});

export type Organization = Row<typeof organizationColumns>;

export function toOrganization(row: Organization): z.input<typeof organizationSchema> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    recording_retention_days: row.recording_retention_days,
    transcript_retention_days: row.transcript_retention_days,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}
