import type { Reference } from "../../openapi/operation.ts";
import { rolesSchema } from "./roles.responses.ts";

export const rolesReference: Reference = {
  tag: "Roles",
  description: "Roles say what a user can do in the organization.",
  external: {
    "GET /roles": {
      operationId: "listRoles",
      summary: "List the roles that the client may assign",
      description: "The roles at or below the client's own permission level, lowest first.",
      status: 200,
      response: { schema: rolesSchema, example: { roles: ["provider_assistant", "provider"] } },
    },
  },
};
