import * as z from "zod";
import { id, name, timestamp } from "../../http/wire.ts";
import * as story from "../../openapi/story.ts";
import { organizationSlug, retentionDays } from "./organizations.fields.ts";

export const organizationSchema = z
  .object({
    id: id().meta({ description: "The id of the organization, for use in paths.", example: story.CLINIC.id }),
    name: name().meta({
      description:
        "The name of the organization, without spaces at its ends. Several organizations can have the same name.",
      example: story.CLINIC.name,
    }),
    slug: organizationSlug().meta({
      description:
        "The short name with which the slugs of the organization's waiting rooms begin. It never contains `--`, which follows it there, and neither begins nor ends with a hyphen. It is unique in the service and never changes. If none is chosen, the service makes one from the name, shortened if it is long; if that is taken, a number follows: one more than the highest that it has.",
      example: story.CLINIC.slug,
    }),
    recording_retention_days: retentionDays().meta({
      description:
        "Recordings are deleted this number of days after their call has ended; null: they are kept for good.",
      example: null,
    }),
    transcript_retention_days: retentionDays().meta({
      description:
        "Transcripts and SOAP notes are deleted this number of days after their call has ended; null: they are kept for good.",
      example: null,
    }),
    participant_retention_days: retentionDays().meta({
      description:
        "The names of participants are erased this number of days after their visit, and with them your keys for them, their references and those of their calls: `display_name` becomes `Participant`, and a late report of the visit changes nothing any more. Consents, metrics and audit entries stay; null: the names are kept for good.",
      example: null,
    }),
    require_acting_user: z.boolean().meta({
      description:
        "Whether clients must say with `X-Acting-User` and `X-Purpose-Of-Use` for whom they read what the access log records, and why. A change counts within 60 seconds.",
      example: false,
    }),
    created_at: timestamp().meta({
      description: "When the organization was created.",
      example: story.SET_UP_AT,
    }),
    updated_at: timestamp().meta({
      description: "When the organization was last updated.",
      example: story.SET_UP_AT,
    }),
  })
  .meta({
    id: "Organization",
    description: "An organization that runs video consultations, such as a clinic.",
  });
