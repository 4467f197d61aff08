import { externalRoutes } from "../../http/hono.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import {
  organizationUsersQuery,
  removeOrganizationUserQuery,
  toOrganizationUser,
  updateOrganizationUserBody,
} from "./organization_users.schemas.ts";
import {
  listOrganizationUsers,
  removeOrganizationUser,
  requireOrganizationUser,
  updateOrganizationUser,
} from "./organization_users.service.ts";

const byId = params(idParams);

export const organizationUsersExternal = externalRoutes()
  .get("/organization_users", area("members"), query(organizationUsersQuery), async (c) => {
    const { items, pagination } = await listOrganizationUsers(c.var.context, c.req.valid("query"));
    return c.json({ organization_users: items.map(toOrganizationUser), pagination });
  })
  .get("/organization_users/:id", area("members"), byId, async (c) =>
    c.json(toOrganizationUser(await requireOrganizationUser(c.var.context, c.req.valid("param").id))),
  )
  .put(
    "/organization_users/:id",
    adminArea("members"),
    byId,
    jsonBody(updateOrganizationUserBody),
    async (c) => {
      const { id } = c.req.valid("param");
      const user = await updateOrganizationUser(c.var.context, id, c.req.valid("json").organization_user);
      return c.json(toOrganizationUser(user));
    },
  )
  .delete(
    "/organization_users/:id",
    adminArea("members"),
    byId,
    query(removeOrganizationUserQuery),
    async (c) => {
      const { revoke_api_clients } = c.req.valid("query");
      await removeOrganizationUser(c.var.context, c.req.valid("param").id, revoke_api_clients);
      return c.body(null, 204);
    },
  );
