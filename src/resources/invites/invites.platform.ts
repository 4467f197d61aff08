import { inRangeOfId } from "../../directory/in_place.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { toCreatedUser } from "../organization_users/organization_users.schemas.ts";
import { acceptInvite, listInvitesWithAcceptUrls, requireInviteWithAcceptUrl } from "./invites.acceptance.ts";
import { acceptInviteBody, activeInvitesQuery, toInviteWithAcceptUrl } from "./invites.schemas.ts";

export const invitesPlatform = platformRoutes()
  .get("/invites", query(activeInvitesQuery), async (c) => {
    const { invites, next_after } = await listInvitesWithAcceptUrls(c.var.context, c.req.valid("query"));
    return c.json({ organization_invites: invites.map(toInviteWithAcceptUrl), next_after });
  })
  .get("/invites/:id", params(idParams), async (c) =>
    c.json(
      toInviteWithAcceptUrl(
        await inRangeOfId(requireInviteWithAcceptUrl)(c.var.context, c.req.valid("param").id),
      ),
    ),
  )
  .post("/invites/accept", jsonBody(acceptInviteBody), async (c) =>
    c.json(toCreatedUser(await acceptInvite(c.var.context, c.req.valid("json").token))),
  );
