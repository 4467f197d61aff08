import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { organizationParams } from "../../http/wire.ts";
import {
  createUserBody,
  memberParams,
  toCreatedUser,
  toUser,
  updateUserBody,
} from "./organization_users.schemas.ts";
import { createUser, endMembership, listUsers, updateUser } from "./organization_users.service.ts";

const USERS = "/organizations/:organization_id/users";
const ONE_USER = "/organizations/:organization_id/users/:organization_user_id";

const ofOrganization = params(organizationParams);
const byMember = params(memberParams);

export const organizationUsersPlatform = platformRoutes()
  .get(USERS, ofOrganization, query(pageQuery), async (c) => {
    const { organization_id } = c.req.valid("param");
    const { items, pagination } = await listUsers(c.var.context, organization_id, c.req.valid("query"));
    return c.json({ users: items.map(toUser), pagination });
  })
  .post(USERS, ofOrganization, jsonBody(createUserBody), async (c) => {
    const { organization_id } = c.req.valid("param");
    const user = await createUser(c.var.context, organization_id, c.req.valid("json").user);
    return c.json(toCreatedUser(user), 201);
  })
  .put(ONE_USER, byMember, jsonBody(updateUserBody), async (c) => {
    const { organization_id, organization_user_id: id } = c.req.valid("param");
    const user = await updateUser(c.var.context, organization_id, id, c.req.valid("json").user);
    return c.json(toUser(user));
  })
  .delete(ONE_USER, byMember, async (c) => {
    const { organization_id, organization_user_id } = c.req.valid("param");
    await endMembership(c.var.context, organization_id, organization_user_id);
    return c.body(null, 204);
  });
