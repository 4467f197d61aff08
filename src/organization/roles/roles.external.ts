import { externalRoutes } from "../../http/hono.ts";
import { itemsOfPage, onePageQuery } from "../../http/pagination.ts";
import { area } from "../../http/scopes.ts";
import { query } from "../../http/validation.ts";
import { assignableRoles } from "./roles.policy.ts";

export const rolesExternal = externalRoutes().get("/roles", area("members"), query(onePageQuery), (c) =>
  c.json({ roles: itemsOfPage(assignableRoles(c.var.context.caller), c.req.valid("query")) }),
);
