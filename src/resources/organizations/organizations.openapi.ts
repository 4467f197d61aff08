import type * as z from "zod";
import { MAX_ORGANIZATION_SLUG_LENGTH, MAX_RETENTION_DAYS } from "../../limits.ts";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { CLINIC, INVITED_AT, SET_UP_AT } from "../../openapi/story.ts";
import { organizationSchema } from "./organizations.responses.ts";

type Organization = z.input<typeof organizationSchema>;

const created: Organization = {
  ...CLINIC,
  recording_retention_days: null,
  transcript_retention_days: null,
  created_at: SET_UP_AT,
  updated_at: SET_UP_AT,
};

const updated: Organization = { ...created, recording_retention_days: 365, updated_at: INVITED_AT };

const renamed: Organization = {
  ...created,
  name: "Riverside Medical Center",
  transcript_retention_days: 90,
  updated_at: INVITED_AT,
};

/** For operations whose path names an organization. */
export const organizationParameter = { description: "The id of the organization.", example: CLINIC.id };

export const noOrganization = { 404: ["Organization not found"] };

const parameters = { id: organizationParameter };

const name =
  "The name of the organization. Spaces at its ends are removed. Several organizations can have the same name.";

const days =
  "A whole number of days, or `null` to keep them for good. Without this field, it stays as it is.";

const wrongDays = `must be a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or null for good`;

export const organizationsReference: Reference = {
  tag: "Organizations",
  description:
    "Organizations that run video consultations. Everything else belongs to an organization. To set one up: create the organization, add a user with the role `organization_admin`, and create an API client that acts as this user.",
  platform: {
    "GET /organizations": {
      operationId: "listOrganizations",
      summary: "List all organizations",
      description: "The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organizations", organizationSchema),
        examples: {
          "One organization": { organizations: [updated], pagination: onePage(1) },
          "Before the first is created": { organizations: [], pagination: onePage(0) },
        },
      },
    },
    "GET /organizations/:id": {
      operationId: "getOrganization",
      summary: "Get an organization",
      status: 200,
      parameters,
      response: { schema: organizationSchema, example: updated },
      errors: noOrganization,
    },
    "PUT /organizations/:id": {
      operationId: "updateOrganization",
      summary: "Update an organization",
      description:
        "The slug cannot be changed. Fewer days also delete what exists already: within minutes, a portion at a time. Nothing of a call under legal hold is deleted. What was deleted does not come back with more days.",
      status: 200,
      parameters,
      request: {
        fields: {
          organization: "What to change. An empty object changes only `updated_at`.",
          "organization.name": `${name} The slug stays when the name changes.`,
          "organization.recording_retention_days": `How long recordings are kept after the end of their call. ${days}`,
          "organization.transcript_retention_days": `How long transcripts and SOAP notes are kept after the end of their call. ${days}`,
        },
        examples: {
          "Recordings are kept for a year": { organization: { recording_retention_days: 365 } },
          "A new name, and other days": {
            organization: {
              name: renamed.name,
              recording_retention_days: null,
              transcript_retention_days: 90,
            },
          },
        },
      },
      response: {
        schema: organizationSchema,
        examples: {
          "Recordings are kept for a year": updated,
          "A new name, and other days": renamed,
        },
      },
      errors: {
        ...noOrganization,
        422: [
          `organization.recording_retention_days: ${wrongDays}`,
          `organization.transcript_retention_days: ${wrongDays}`,
        ],
      },
    },
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description:
        "Recordings, transcripts and SOAP notes are kept for good, until an update gives them a number of days. If no response arrives, look in the list before you create the organization again: without a `slug`, a second request makes a second organization.",
      status: 201,
      request: {
        fields: {
          organization: "The organization.",
          "organization.name": name,
          "organization.slug":
            "The short name with which the slugs of the organization's waiting rooms begin: a to z, 0 to 9 and hyphens, but never two hyphens together. It is unique in the service, and cannot be changed later. Without it, the service makes one from the name, shortened if it is long, with `-2`, `-3` and so on if that is taken.",
        },
        examples: {
          "With a slug": { organization: { name: CLINIC.name, slug: CLINIC.slug } },
          "With a slug that is made from the name": { organization: { name: CLINIC.name } },
        },
      },
      response: { schema: organizationSchema, example: created },
      errors: {
        422: [
          `organization.slug: must be 1 to ${MAX_ORGANIZATION_SLUG_LENGTH} characters of a-z, 0-9 and -`,
          "organization.slug: must not contain --, which ends it in the slugs of waiting rooms",
          "organization.slug: is taken; choose another one, or leave it out",
        ],
      },
    },
  },
};
