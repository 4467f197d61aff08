import type * as z from "zod";
import type { Reference } from "../../openapi/operation.ts";
import { organizationSchema } from "./organizations.schemas.ts";

const organization: z.input<typeof organizationSchema> = {
  id: 1,
  name: "Riverside Clinic",
  slug: "riverside-clinic",
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

export const organizationsReference: Reference = {
  tag: "Organizations",
  description: "Those who run video consultations. Everything else belongs to one of them.",
  schemas: {
    Organization: {
      schema: organizationSchema,
      description: "Who runs video consultations.",
      fields: {
        id: "Identifies the organization.",
        name: "What people call the organization.",
        slug: "With which the slugs of the organization's rooms begin.",
        created_at: "When the organization was made.",
        updated_at: "When the organization last changed.",
      },
    },
  },
  platform: {
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description: "A slug that is left out is made from the name.",
      status: 201,
      requestExample: { organization: { name: "Riverside Clinic", slug: "riverside-clinic" } },
      response: { schema: organizationSchema, example: organization },
      refusals: { 422: "The slug is taken." },
    },
  },
};
