import { inOrganization } from "../../directory/in_place.ts";
import { pageQuery } from "../../http/pagination.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import {
  createUserBody,
  memberParams,
  toCreatedUser,
  toUser,
  updateUserBody,
} from "./organization_users.schemas.ts";
import { createUser, endMembership, listUsers, updateUser } from "./organization_users.service.ts";

const byId = params(idParams);
const byMember = params(memberParams);

export const organizationUsersPlatform = platformRoutes()
  .get("/organizations/:id/users", byId, query(pageQuery), async (c) => {
    const { id } = c.req.valid("param");
    const { items, pagination } = await inOrganization(listUsers)(c.var.context, id, c.req.valid("query"));
    return c.json({ users: items.map(toUser), pagination });
  })
  .post("/organizations/:id/users", byId, jsonBody(createUserBody), async (c) => {
    const user = await inOrganization(createUser)(
      c.var.context,
      c.req.valid("param").id,
      c.req.valid("json").user,
    );
    return c.json(toCreatedUser(user), 201);
  })
  .put("/organizations/:id/users/:organization_user_id", byMember, jsonBody(updateUserBody), async (c) => {
    const { id, organization_user_id } = c.req.valid("param");
    const user = await inOrganization(updateUser)(
      c.var.context,
      id,
      organization_user_id,
      c.req.valid("json").user,
    );
    return c.json(toUser(user));
  })
  .delete("/organizations/:id/users/:organization_user_id", byMember, async (c) => {
    const { id, organization_user_id } = c.req.valid("param");
    await inOrganization(endMembership)(c.var.context, id, organization_user_id);
    return c.body(null, 204);
  });
