import { externalRoutes } from "../../http/external_api.ts";
import { pageQuery } from "../../http/pagination.ts";
import { params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { toOrganizationUser } from "./organization_users.schemas.ts";
import { listOrganizationUsers, requireOrganizationUser } from "./organization_users.service.ts";

export const organizationUsersExternal = externalRoutes()
  .get("/organization_users", query(pageQuery), async (c) => {
    const { items, pagination } = await listOrganizationUsers(c.var.context, c.req.valid("query"));
    return c.json({ organization_users: items.map(toOrganizationUser), pagination });
  })
  .get("/organization_users/:id", params(idParams), async (c) =>
    c.json(toOrganizationUser(await requireOrganizationUser(c.var.context, c.req.valid("param").id))),
  );
