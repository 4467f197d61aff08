import { platformRoutes } from "../../http/platform_door.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { createUserBody, toCreatedUser } from "./organization_users.schemas.ts";
import { createUser } from "./organization_users.service.ts";

export const organizationUsersPlatform = platformRoutes().post(
  "/organizations/:id/users",
  params(idParams),
  jsonBody(createUserBody),
  async (c) => {
    const user = await createUser(c.var.context, c.req.valid("param").id, c.req.valid("json").user);
    return c.json(toCreatedUser(user), 201);
  },
);
