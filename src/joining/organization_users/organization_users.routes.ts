import { externalRoutes, noContent } from "../../http/hono.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams, organizationParams } from "../../http/wire.ts";
import {
  createUserBody,
  memberParams,
  organizationUsersQuery,
  removeOrganizationUserQuery,
  toCreatedUser,
  toOrganizationUser,
  toUser,
  updateOrganizationUserBody,
  updateUserBody,
} from "./organization_users.schemas.ts";
import * as service from "./organization_users.service.ts";

const byId = params(idParams);

export const organizationUsersExternal = externalRoutes()
  .get("/organization_users", area("members"), query(organizationUsersQuery), async (c) => {
    const { items, pagination } = await service.listOrganizationUsers(c.var.context, c.req.valid("query"));
    return c.json({ organization_users: items.map(toOrganizationUser), pagination });
  })
  .get("/organization_users/:id", area("members"), byId, async (c) =>
    c.json(toOrganizationUser(await service.requireOrganizationUser(c.var.context, c.req.valid("param").id))),
  )
  .put(
    "/organization_users/:id",
    adminArea("members"),
    byId,
    jsonBody(updateOrganizationUserBody),
    async (c) => {
      const { id } = c.req.valid("param");
      const user = await service.updateOrganizationUser(
        c.var.context,
        id,
        c.req.valid("json").organization_user,
      );
      return c.json(toOrganizationUser(user));
    },
  )
  .delete("/organization_users/:id", adminArea("members"), byId, query(removeOrganizationUserQuery), (c) => {
    const { revoke_api_clients } = c.req.valid("query");
    return noContent(
      c,
      service.removeOrganizationUser(c.var.context, c.req.valid("param").id, revoke_api_clients),
    );
  });

const USERS = "/organizations/:organization_id/users";
const ONE_USER = "/organizations/:organization_id/users/:organization_user_id";

const ofOrganization = params(organizationParams);
const byMember = params(memberParams);

export const organizationUsersPlatform = platformRoutes()
  .get(USERS, ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await service.listUsers(
      c.var.context,
      organization_id,
      c.req.valid("query"),
    );
    return c.json({ users: items.map(toUser), pagination });
  })
  .post(USERS, ofOrganization, jsonBody(createUserBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const user = await service.createUser(c.var.context, organization_id, c.req.valid("json").user);
    return c.json(toCreatedUser(user), 201);
  })
  .put(ONE_USER, byMember, jsonBody(updateUserBody), async (c) => {
    const { organization_id, organization_user_id: id } = c.req.valid("param");
    const user = await service.updateUser(c.var.context, organization_id, id, c.req.valid("json").user);
    return c.json(toUser(user));
  })
  .delete(ONE_USER, byMember, (c) => {
    const { organization_id, organization_user_id } = c.req.valid("param");
    return noContent(c, service.endMembership(c.var.context, organization_id, organization_user_id));
  });
