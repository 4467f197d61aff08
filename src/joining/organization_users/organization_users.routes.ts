import { externalRoutes, noContent } from "../../http/hono.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams, organizationParams } from "../../http/wire.ts";
import * as schemas from "./organization_users.schemas.ts";
import * as service from "./organization_users.service.ts";

const byId = params(idParams);

export const organizationUsersExternal = externalRoutes()
  .get("/organization_users", area("members"), query(schemas.organizationUsersQuery), async (c) => {
    const { items, pagination } = await service.listOrganizationUsers(c.var.context, c.req.valid("query"));
    return c.json({ organization_users: items.map(schemas.toOrganizationUser), pagination });
  })
  .get("/organization_users/:id", area("members"), byId, async (c) =>
    c.json(
      schemas.toOrganizationUser(
        await service.requireOrganizationUser(c.var.context, c.req.valid("param").id),
      ),
    ),
  )
  .put(
    "/organization_users/:id",
    adminArea("members"),
    byId,
    jsonBody(schemas.updateOrganizationUserBody),
    async (c) => {
      const { id } = c.req.valid("param");
      const user = await service.updateOrganizationUser(
        c.var.context,
        id,
        c.req.valid("json").organization_user,
      );
      return c.json(schemas.toOrganizationUser(user));
    },
  )
  .delete(
    "/organization_users/:id",
    adminArea("members"),
    byId,
    query(schemas.removeOrganizationUserQuery),
    (c) => {
      const { revoke_api_clients } = c.req.valid("query");
      return noContent(
        c,
        service.removeOrganizationUser(c.var.context, c.req.valid("param").id, revoke_api_clients),
      );
    },
  );

const USERS = "/organizations/:organization_id/users";
const ONE_USER = "/organizations/:organization_id/users/:organization_user_id";

const ofOrganization = params(organizationParams);
const byMember = params(schemas.memberParams);

export const organizationUsersPlatform = platformRoutes()
  .get(USERS, ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await service.listUsers(
      c.var.context,
      organization_id,
      c.req.valid("query"),
    );
    return c.json({ users: items.map(schemas.toUser), pagination });
  })
  .post(USERS, ofOrganization, jsonBody(schemas.createUserBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const user = await service.createUser(c.var.context, organization_id, c.req.valid("json").user);
    return c.json(schemas.toCreatedUser(user), 201);
  })
  .put(ONE_USER, byMember, jsonBody(schemas.updateUserBody), async (c) => {
    const { organization_id, organization_user_id: id } = c.req.valid("param");
    const user = await service.updateUser(c.var.context, organization_id, id, c.req.valid("json").user);
    return c.json(schemas.toUser(user));
  })
  .delete(ONE_USER, byMember, (c) => {
    const { organization_id, organization_user_id } = c.req.valid("param");
    return noContent(c, service.endMembership(c.var.context, organization_id, organization_user_id));
  });
