import type { Reference } from "../../openapi/operation.ts";
import { administratorNotAssignable, rolesAboveLevel } from "./roles.policy.ts";
import { rolesSchema } from "./roles.responses.ts";

export const rolesReference: Reference = {
  tag: "Roles",
  description: `Roles determine what a user can do in the organization. A user can have several roles.

| Role | For |
| --- | --- |
| \`provider_assistant\` | A person who works for providers and reads the calls of the providers that they assist. |
| \`provider\` | A person who holds calls, such as a doctor. A provider has a personal waiting room. |
| \`organization_admin\` | A person who runs the organization and reads everybody's calls. Only organization admins can change and remove members, read events and set up webhooks. |`,
  external: {
    "GET /roles": {
      operationId: "listRoles",
      summary: "List the roles that the client may assign",
      description:
        "Lists the roles at or below the client's own permission level, which it can give to the people that it invites. A client that lacks a scope or has an `expires_at` cannot assign `organization_admin`.",
      response: { schema: rolesSchema },
    },
  },
};

/** The errors of a field with roles that the client may not assign. */
export const notAssignable = (field: string) => [
  rolesAboveLevel(field, ["organization_admin"], ["provider_assistant", "provider"]),
  administratorNotAssignable(field),
];
