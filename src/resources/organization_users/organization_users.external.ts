import { externalRoutes } from "../../http/external_api.ts";
import { pageQuery } from "../../http/pagination.ts";
import { query } from "../../http/validation.ts";
import { toOrganizationUser } from "./organization_users.schemas.ts";
import { listOrganizationUsers } from "./organization_users.service.ts";

export const organizationUsersExternal = externalRoutes().get(
  "/organization_users",
  query(pageQuery),
  async (c) => {
    const { items, pagination } = await listOrganizationUsers(c.var.context, c.req.valid("query"));
    return c.json({ organization_users: items.map(toOrganizationUser), pagination });
  },
);
