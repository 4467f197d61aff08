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
  description: "Organizations that run video consultations. Everything else belongs to an organization.",
  schemas: {
    Organization: {
      schema: organizationSchema,
      description: "An organization that runs video consultations, such as a clinic.",
      fields: {
        id: "The id of the organization.",
        name: "The name of the organization.",
        slug: "The short name with which the slugs of the organization's waiting rooms begin. It never contains `--`, which follows it there.",
        created_at: "When the organization was created.",
        updated_at: "When the organization last changed.",
      },
    },
  },
  platform: {
    "POST /organizations": {
      operationId: "createOrganization",
      summary: "Create an organization",
      description: "Without a `slug`, the service makes one from the name.",
      status: 201,
      requestExample: { organization: { name: "Riverside Clinic", slug: "riverside-clinic" } },
      response: { schema: organizationSchema, example: organization },
      refusals: { 422: "The slug is taken, or contains `--`." },
    },
  },
};
