import { externalRoutes } from "../../http/external_door.ts";
import { assignableRoles } from "./roles.schemas.ts";

export const rolesExternal = externalRoutes().get("/roles", (c) =>
  c.json({ roles: assignableRoles(c.var.context.caller.roles) }),
);
