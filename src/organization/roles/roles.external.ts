import { externalRoutes } from "../../http/external_api.ts";
import { area } from "../../http/scopes.ts";
import { assignableRoles } from "./roles.policy.ts";

export const rolesExternal = externalRoutes().get("/roles", area("members"), (c) =>
  c.json({ roles: assignableRoles(c.var.context.caller) }),
);
