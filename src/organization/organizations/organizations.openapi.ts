import { invalidBody } from "../../http/errors.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import * as refusals from "./organizations.refusals.ts";
import { organizationSchema, ownOrganizationSchema } from "./organizations.responses.ts";
import * as schemas from "./organizations.schemas.ts";

const created = exampleOf(organizationSchema);

const renamed = {
  ...created,
  name: "Riverside Medical Center",
  transcript_retention_days: 90,
  participant_retention_days: 30,
};

const UPDATE =
  "Omitted fields keep their values. The slug and the region cannot be changed; the slug stays when the name changes. A shorter retention also deletes existing data, within minutes and in portions. Data of calls under legal hold is not deleted. A longer retention does not restore deleted data.";

const FIELDS = { organization: "The fields to change. An empty object changes only `updated_at`." };

const A_YEAR = "Recordings are kept for a year";
const SUSPENDED = "Suspend the organization";
const keepForAYear = { [A_YEAR]: { organization: { recording_retention_days: 365 } } };
const keptForAYear = { recording_retention_days: 365, updated_at: story.INVITED_AT };

const updateErrors = [
  refusals.organizationNotFound(),
  invalidBody(`organization.recording_retention_days: ${refusals.NOT_RETENTION_DAYS}`),
  invalidBody(`organization.transcript_retention_days: ${refusals.NOT_RETENTION_DAYS}`),
  invalidBody(`organization.participant_retention_days: ${refusals.NOT_RETENTION_DAYS}`),
  invalidBody(`organization.time_zone: ${refusals.NOT_A_TIME_ZONE}`),
  invalidBody(`organization.patient_identifier_system: ${refusals.NOT_AN_IDENTIFIER_SYSTEM}`),
];

export const organizationsReference: Reference = {
  tag: "Organizations",
  description:
    "Organizations that run video consultations. Everything else belongs to an organization. To set one up, the platform creates the organization, adds a user with the role `organization_admin`, and creates an API client that acts as this user.",
  external: {
    "GET /organization": {
      operationId: "getOwnOrganization",
      summary: "Get your organization",
      response: { schema: ownOrganizationSchema },
    },
    "PUT /organization": {
      operationId: "updateOwnOrganization",
      summary: "Update your organization",
      description: UPDATE,
      request: {
        fields: FIELDS,
        examples: {
          ...keepForAYear,
          "A new name and new retention periods": exampleBody(schemas.updateOwnOrganizationBody(), renamed),
        },
      },
      response: {
        schema: ownOrganizationSchema,
        example: { ...exampleOf(ownOrganizationSchema), ...keptForAYear },
      },
      errors: updateErrors,
    },
  },
  platform: {
    "GET /organizations": {
      operationId: "listOrganizations",
      summary: "List all organizations",
      description:
        "The list is ordered by id. With several databases, an organization whose creation failed halfway counts in the total but is missing from its page, until it is created again with the same slug.",
      parameters: {
        region: { description: "Only organizations in this region of the service.", example: "eu" },
      },
      response: pageResponse("organizations", organizationSchema),
      errors: [refusals.noRegionToList(["us", "eu"]), refusals.noRegionToList([])],
    },
    "GET /organizations/:organization_id": {
      operationId: "getOrganization",
      summary: "Get an organization",
      response: { schema: organizationSchema },
      errors: [refusals.organizationNotFound()],
    },
    "PUT /organizations/:organization_id": {
      operationId: "updateOrganization",
      summary: "Update an organization",
      description: UPDATE,
      request: {
        fields: FIELDS,
        examples: {
          ...keepForAYear,
          "A new name and new retention periods": exampleBody(schemas.updateOrganizationBody(), renamed),
          [SUSPENDED]: { organization: { is_suspended: true } },
        },
      },
      response: {
        schema: organizationSchema,
        examples: {
          [A_YEAR]: { ...created, ...keptForAYear },
          [SUSPENDED]: { ...created, ...keptForAYear, is_suspended: true },
        },
      },
      errors: updateErrors,
    },
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description:
        "Recordings, transcripts and SOAP notes are kept forever unless an update sets a number of days. If no response arrives, check the list before you create the organization again: without a `slug`, a second request creates a second organization. If the service has several regions, `region` says in which one the organization's data lie; without it, the people who run the service decide.",
      request: {
        examples: {
          "Only a name": { organization: { name: created.name } },
          "In a region": { organization: { name: created.name, region: "eu" } },
          "All fields": exampleBody(schemas.createOrganizationBody(), {
            ...created,
            name: "Hillside",
            slug: "hillside",
          }),
        },
      },
      response: { schema: organizationSchema },
      errors: [
        invalidBody(`organization.slug: ${refusals.NOT_AN_ORGANIZATION_SLUG}`),
        invalidBody(`organization.time_zone: ${refusals.NOT_A_TIME_ZONE}`),
        refusals.organizationSlugTaken(),
        refusals.noSuchRegion(["us", "eu"]),
        refusals.noSuchRegion([]),
      ],
    },
  },
};
