import * as z from "zod";
import { id, name, timestamp } from "../../http/wire.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import * as schemas from "./organizations.schemas.ts";

const ownFields = z.object({
  id: id().meta({ description: "The id of the organization, for use in paths.", example: story.CLINIC.id }),
  name: name().meta({
    description:
      "The name of the organization, without leading or trailing spaces. Several organizations can have the same name.",
    example: story.CLINIC.name,
  }),
  slug: schemas.organizationSlug().meta({
    description:
      "The short name that the slugs of the organization's waiting rooms begin with. It never contains `--`, which follows it there, and neither begins nor ends with a hyphen. It is unique in the service and never changes. By default, the service generates one from the name, shortened if the name is long. If that slug is taken, the service appends a number: one more than the highest so far.",
    example: story.CLINIC.slug,
  }),
  recording_retention_days: schemas.retentionDays().meta({
    description:
      "Recordings are deleted this many days after the end of their call. null keeps them forever.",
    example: null,
  }),
  transcript_retention_days: schemas.retentionDays().meta({
    description:
      "Transcripts and SOAP notes are deleted this many days after the end of their call. null keeps them forever.",
    example: null,
  }),
  participant_retention_days: schemas.retentionDays().meta({
    description:
      "Participants' names are erased this many days after their visit, together with your keys for them, their references and the references of their calls: `display_name` becomes `Participant`, and late reports of the visit no longer change anything. Consents, metrics and audit entries stay. null keeps the names forever.",
    example: null,
  }),
  require_acting_user: z
    .boolean()
    .describe(
      "Whether clients must state, in `X-Acting-User` and `X-Purpose-Of-Use`, for whom and why they read. This applies to reads that the access log records. A change takes effect within 60 seconds.",
    ),
  region: schemas
    .region()
    .regex(/^[a-z0-9-]+$/)
    .nullable()
    .describe(
      "The region in which the organization's rows, recordings and sealed days of its access log lie, as the people who run the service name it. null if the service has no regions.",
    ),
  time_zone: schemas.timeZone().meta({
    description:
      "The IANA name of the time zone whose dates `days=local` counts in metrics: `Europe/Berlin`. null counts UTC dates. All other dates are in UTC.",
    example: null,
  }),
  patient_identifier_system: schemas.patientIdentifierSystem().meta({
    description:
      "The URI of the number space of your patients' references, for the FHIR form of a call. null: `{address of the service}/identifiers/{slug}/patient`.",
    example: "urn:oid:2.999.7",
  }),
  created_at: field(timestamp(), "When the organization was created.", story.SET_UP_AT),
  updated_at: field(timestamp(), "When the organization was last updated.", story.SET_UP_AT),
});

const DESCRIPTION = "An organization that runs video consultations, such as a clinic.";

export const ownOrganizationSchema = named("OwnOrganization", DESCRIPTION, {
  ...ownFields.shape,
  app_url: z.url().max(2000).meta({
    description:
      "The address of the web app in which visits take place, without a slash at its end. Sign-in begins at `{app_url}/login`, and a waiting room is at `{app_url}/meet/{slug}`.",
    example: story.APP_URL,
  }),
});

export const organizationSchema = named("Organization", DESCRIPTION, {
  ...ownFields.shape,
  is_suspended: z
    .boolean()
    .describe(
      "Whether the organization is suspended. Within 60 seconds, its API clients get 403, and nobody signs in, accepts an invite or uses the link of a visit. Webhooks, invite emails and the rows of bulk invites wait until the organization is resumed. Reports are still taken, and retention goes on.",
    ),
});
