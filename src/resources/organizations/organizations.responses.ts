import * as z from "zod";
import { MAX_ORGANIZATION_SLUG_LENGTH, MAX_RETENTION_DAYS } from "../../limits.ts";
import { id, line, timestamp } from "../../openapi/shapes.ts";

/** A character, and perhaps a hyphen after it: never two hyphens. */
export const ORGANIZATION_SLUG = /^-?([a-z0-9]-?)*$/;

export const organizationSlug = () =>
  z.string().min(1).max(MAX_ORGANIZATION_SLUG_LENGTH).regex(ORGANIZATION_SLUG);

const retentionDays = () => z.int().min(1).max(MAX_RETENTION_DAYS).nullable();

export const organizationSchema = z
  .object({
    id: id().describe("The id of the organization, for use in paths."),
    name: line().describe("The name of the organization."),
    slug: organizationSlug().describe(
      "The short name with which the slugs of the organization's waiting rooms begin. It is unique in the service and never changes. It never contains `--`, which follows it there.",
    ),
    recording_retention_days: retentionDays().describe(
      "Recordings are deleted this number of days after their call has ended; null: they are kept for good.",
    ),
    transcript_retention_days: retentionDays().describe(
      "Transcripts and SOAP notes are deleted this number of days after their call has ended; null: they are kept for good.",
    ),
    created_at: timestamp().describe("When the organization was created."),
    updated_at: timestamp().describe("When the organization was last updated."),
  })
  .meta({
    id: "Organization",
    description: "An organization that runs video consultations, such as a clinic.",
  });
