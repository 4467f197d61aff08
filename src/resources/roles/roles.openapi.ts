import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import { rolesSchema } from "./roles.responses.ts";

export const rolesReference: Reference = {
  tag: "Roles",
  description: `Roles say what a user can do in the organization. A user can have several.

| Role | For |
| --- | --- |
| \`provider_assistant\` | Somebody who works for providers, and reads the calls of those whom they assist. |
| \`provider\` | Somebody who holds calls, such as a doctor. A provider has a personal waiting room. |
| \`organization_admin\` | Somebody who runs the organization: reads everybody's calls, and is the only one to change members and let them go, read events and set up webhooks. |`,
  external: {
    "GET /roles": {
      operationId: "listRoles",
      summary: "List the roles that the client may assign",
      description:
        "The roles at or below the client's own permission level: those that it can give to people whom it invites.",
      response: {
        schema: rolesSchema,
        examples: {
          "A client of an organization_admin": exampleOf(rolesSchema),
          "A client of a provider": { roles: ["provider_assistant", "provider"] },
          "A client of a provider_assistant": { roles: ["provider_assistant"] },
        },
      },
    },
  },
};
