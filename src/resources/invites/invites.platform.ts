import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { toCreatedUser } from "../organization_users/organization_users.schemas.ts";
import { acceptInvite, requireInviteWithAcceptUrl } from "./invites.acceptance.ts";
import { acceptInviteBody, toInviteWithAcceptUrl } from "./invites.schemas.ts";

export const invitesPlatform = platformRoutes()
  .get("/invites/:id", params(idParams), async (c) =>
    c.json(toInviteWithAcceptUrl(await requireInviteWithAcceptUrl(c.var.context, c.req.valid("param").id))),
  )
  .post("/invites/accept", jsonBody(acceptInviteBody), async (c) =>
    c.json(toCreatedUser(await acceptInvite(c.var.context, c.req.valid("json").token))),
  );
