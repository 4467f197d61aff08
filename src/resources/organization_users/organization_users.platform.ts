import { platformRoutes } from "../../http/platform_door.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { endMembership, updateUser } from "./organization_users.membership.ts";
import {
  createUserBody,
  memberParams,
  toCreatedUser,
  toUser,
  updateUserBody,
} from "./organization_users.schemas.ts";
import { createUser } from "./organization_users.service.ts";

const member = params(memberParams);

export const organizationUsersPlatform = platformRoutes()
  .post("/organizations/:id/users", params(idParams), jsonBody(createUserBody), async (c) => {
    const user = await createUser(c.var.context, c.req.valid("param").id, c.req.valid("json").user);
    return c.json(toCreatedUser(user), 201);
  })
  .put("/organizations/:id/users/:organization_user_id", member, jsonBody(updateUserBody), async (c) => {
    const { id, organization_user_id } = c.req.valid("param");
    const user = await updateUser(c.var.context, id, organization_user_id, c.req.valid("json").user);
    return c.json(toUser(user));
  })
  .delete("/organizations/:id/users/:organization_user_id", member, async (c) => {
    const { id, organization_user_id } = c.req.valid("param");
    await endMembership(c.var.context, id, organization_user_id);
    return c.body(null, 204);
  });
