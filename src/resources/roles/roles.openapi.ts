import type { Reference } from "../../openapi/operation.ts";
import { rolesSchema } from "./roles.schemas.ts";

export const rolesReference: Reference = {
  tag: "Roles",
  description: "What people may do in the organization.",
  external: {
    "GET /roles": {
      operationId: "listRoles",
      summary: "List the roles that the caller may assign",
      description: "Those at or below its own permission level, lowest first.",
      status: 200,
      response: { schema: rolesSchema, example: { roles: ["provider_assistant", "provider"] } },
    },
  },
};
