import { externalRoutes } from "../../http/external_api.ts";
import { assignableRoles } from "./roles.policy.ts";

export const rolesExternal = externalRoutes().get("/roles", (c) =>
  c.json({ roles: assignableRoles(c.var.context.caller.roles) }),
);
