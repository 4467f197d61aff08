import type * as z from "zod";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { organizationSchema } from "./organizations.responses.ts";

const organization: z.input<typeof organizationSchema> = {
  id: 1,
  name: "Riverside Clinic",
  slug: "riverside-clinic",
  recording_retention_days: 365,
  transcript_retention_days: null,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

export const organizationsReference: Reference = {
  tag: "Organizations",
  description: "Organizations that run video consultations. Everything else belongs to an organization.",
  schemas: {
    Organization: {
      schema: organizationSchema,
      description: "An organization that runs video consultations, such as a clinic.",
      fields: {
        id: "The id of the organization.",
        name: "The name of the organization.",
        slug: "The short name with which the slugs of the organization's waiting rooms begin. It never contains `--`, which follows it there.",
        recording_retention_days:
          "Recordings are deleted this number of days after their call has ended. null: they are kept for good.",
        transcript_retention_days:
          "Transcripts and SOAP notes are deleted this number of days after their call has ended. null: they are kept for good.",
        created_at: "When the organization was created.",
        updated_at: "When the organization last changed.",
      },
    },
  },
  platform: {
    "GET /organizations": {
      operationId: "listOrganizations",
      summary: "List all organizations",
      description: "The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("organizations", organizationSchema),
        example: { organizations: [organization], pagination: onePage(1) },
      },
    },
    "GET /organizations/:id": {
      operationId: "getOrganization",
      summary: "Get an organization",
      status: 200,
      response: { schema: organizationSchema, example: organization },
    },
    "PUT /organizations/:id": {
      operationId: "updateOrganization",
      summary: "Update an organization",
      description:
        "A field that is left out stays as it is. The slug stays, even if the name changes. null keeps recordings, or transcripts, for good.",
      status: 200,
      request: { fields: {}, example: { organization: { recording_retention_days: 365 } } },
      response: { schema: organizationSchema, example: organization },
    },
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description:
        "Without a `slug`, the service makes one from the name. Recordings and transcripts are kept for good, until an update gives them a number of days.",
      status: 201,
      request: {
        fields: {},
        example: { organization: { name: "Riverside Clinic", slug: "riverside-clinic" } },
      },
      response: {
        schema: organizationSchema,
        example: { ...organization, recording_retention_days: null },
      },
      refusals: { 422: "The slug is taken, or contains `--`." },
    },
  },
};
