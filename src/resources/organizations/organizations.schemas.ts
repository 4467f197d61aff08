import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { name, toTimestamp } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { organizationSlug, retentionDays } from "./organizations.fields.ts";
import type { organizationSchema } from "./organizations.responses.ts";
import type { organizationColumns } from "./organizations.sql.ts";

export const createOrganizationBody = lazily(() =>
  z.object({ organization: z.object({ name: name(), slug: organizationSlug().optional() }) }),
);

export const updateOrganizationBody = lazily(() =>
  z.object({
    organization: z
      .object({
        name: name(),
        recording_retention_days: retentionDays(),
        transcript_retention_days: retentionDays(),
        participant_retention_days: retentionDays(),
        require_acting_user: z.boolean(),
      })
      .partial(),
  }),
);

export type Organization = Row<typeof organizationColumns>;

export function toOrganization(row: Organization): z.input<typeof organizationSchema> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    recording_retention_days: row.recording_retention_days,
    transcript_retention_days: row.transcript_retention_days,
    participant_retention_days: row.participant_retention_days,
    require_acting_user: row.require_acting_user,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}
