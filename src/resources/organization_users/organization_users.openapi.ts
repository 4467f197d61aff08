import type * as z from "zod";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { createdUserSchema, organizationUserSchema } from "./organization_users.schemas.ts";

const user: z.input<typeof organizationUserSchema> = {
  id: 12,
  user_id: 34,
  email: "paula@example.com",
  display_name: "Paula Provider",
  roles: ["provider"],
};

const createdUser: z.input<typeof createdUserSchema> = {
  ...user,
  organization_id: 1,
  waiting_room_slug: "riverside-clinic-paula-provider",
};

const fields = {
  id: "Identifies the organization user: a person in this organization.",
  user_id: "Identifies the person.",
  email: "The person's address.",
  display_name: "What the organization calls the person.",
  roles: "The roles held, lowest first.",
};

export const organizationUsersReference: Reference = {
  tag: "Organization users",
  description: "The people of an organization. Paths name them by the id of the organization user.",
  schemas: {
    OrganizationUser: {
      schema: organizationUserSchema,
      description: "A person who belongs to the organization.",
      fields,
    },
    CreatedUser: {
      schema: createdUserSchema,
      description: "A person who has come to belong to an organization.",
      fields: {
        ...fields,
        organization_id: "The organization.",
        waiting_room_slug: "The personal room's slug; null for one whose roles call for none.",
      },
    },
  },
  external: {
    "GET /organization_users": {
      operationId: "listOrganizationUsers",
      summary: "List the organization users within reach",
      description:
        "An organization_admin reaches all, a provider itself, a provider_assistant itself and the providers that it assists.",
      status: 200,
      response: {
        schema: pageOf("organization_users", organizationUserSchema),
        example: { organization_users: [user], pagination: paginationExample },
      },
    },
  },
  platform: {
    "POST /organizations/:id/users": {
      operationId: "createUser",
      summary: "Create a user of an organization",
      description: "Makes the personal waiting room too, where the roles call for one.",
      status: 201,
      requestExample: {
        user: { email: "paula@example.com", display_name: "Paula Provider", roles: ["provider"] },
      },
      response: { schema: createdUserSchema, example: createdUser },
      refusals: {
        422: "The email is already a user of the organization, or `assists` names no provider of it.",
      },
    },
  },
};
