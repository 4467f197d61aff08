import { unprocessable } from "../../http/errors.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS, type Operation, pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import {
  NOT_AN_ORGANIZATION_SLUG,
  NOT_RETENTION_DAYS,
  organizationNotFound,
  organizationSlugTaken,
} from "./organizations.refusals.ts";
import { organizationSchema } from "./organizations.responses.ts";
import { createOrganizationBody, updateOrganizationBody } from "./organizations.schemas.ts";

const created = exampleOf(organizationSchema);

const updated: typeof created = { ...created, recording_retention_days: 365, updated_at: story.INVITED_AT };

const renamed: typeof created = {
  ...created,
  name: "Riverside Medical Center",
  transcript_retention_days: 90,
  participant_retention_days: 30,
  updated_at: story.INVITED_AT,
};

const UPDATE =
  "Fields that are left out keep their values. The slug cannot be changed: it stays when the name changes. Fewer days also delete what exists already: within minutes, a portion at a time. Nothing of a call under legal hold is deleted. What was deleted does not come back with more days.";

const update: Pick<Operation, "request" | "response"> = {
  request: {
    fields: { organization: "What to change. An empty object changes only `updated_at`." },
    examples: {
      "Recordings are kept for a year": { organization: { recording_retention_days: 365 } },
      "A new name, and other days": exampleBody(updateOrganizationBody(), renamed),
    },
  },
  response: {
    schema: organizationSchema,
    examples: { "Recordings are kept for a year": updated, "A new name, and other days": renamed },
  },
};

const updateErrors = [
  organizationNotFound(),
  unprocessable(`organization.recording_retention_days: ${NOT_RETENTION_DAYS}`),
  unprocessable(`organization.transcript_retention_days: ${NOT_RETENTION_DAYS}`),
  unprocessable(`organization.participant_retention_days: ${NOT_RETENTION_DAYS}`),
];

export const organizationsReference: Reference = {
  tag: "Organizations",
  description:
    "Organizations that run video consultations. Everything else belongs to an organization. The platform sets one up: it creates the organization, adds a user with the role `organization_admin`, and creates an API client that acts as this user.",
  external: {
    "GET /organization": {
      operationId: "getOwnOrganization",
      summary: "Get your organization",
      response: { schema: organizationSchema, example: updated },
    },
    "PUT /organization": {
      operationId: "updateOwnOrganization",
      summary: "Update your organization",
      description: `Only clients of an organization_admin can do this. ${UPDATE}`,
      ...update,
      refusals: FOR_ADMINISTRATORS,
      errors: updateErrors,
    },
  },
  platform: {
    "GET /organizations": {
      operationId: "listOrganizations",
      summary: "List all organizations",
      description:
        "The list is ordered by id. With several databases, an organization whose creation failed half-way counts in the total, and its page is shorter, until it is created with the same slug.",
      response: pageResponse("organizations", organizationSchema, {
        "One organization": [updated],
        "Before the first is created": [],
      }),
    },
    "GET /organizations/:organization_id": {
      operationId: "getOrganization",
      summary: "Get an organization",
      response: { schema: organizationSchema, example: updated },
      errors: [organizationNotFound()],
    },
    "PUT /organizations/:organization_id": {
      operationId: "updateOrganization",
      summary: "Update an organization",
      description: UPDATE,
      ...update,
      errors: updateErrors,
    },
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description:
        "Recordings, transcripts and SOAP notes are kept for good, until an update gives them a number of days. If no response arrives, look in the list before you create the organization again: without a `slug`, a second request makes a second organization.",
      request: {
        examples: {
          "With a slug": exampleBody(createOrganizationBody(), created),
          "With a slug that is made from the name": { organization: { name: created.name } },
        },
      },
      response: { schema: organizationSchema, example: created },
      errors: [unprocessable(`organization.slug: ${NOT_AN_ORGANIZATION_SLUG}`), organizationSlugTaken()],
    },
  },
};
