import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { ownParams } from "../../http/wire.ts";
import { toCreatedUser } from "../organization_users/organization_users.schemas.ts";
import { acceptInvite, listInvitesWithAcceptUrls, requireInviteWithAcceptUrl } from "./invites.acceptance.ts";
import {
  type AcceptInviteBody,
  acceptInviteBody,
  activeInvitesQuery,
  toInviteWithAcceptUrl,
} from "./invites.schemas.ts";
import { verifyToken } from "./invites.tokens.ts";

export const invitesPlatform = platformRoutes()
  .get("/invites", query(activeInvitesQuery), async (c) => {
    const { invites, next_after } = await listInvitesWithAcceptUrls(c.var.context, c.req.valid("query"));
    return c.json({ organization_invites: invites.map(toInviteWithAcceptUrl), next_after });
  })
  .get("/organizations/:organization_id/invites/:id", params(ownParams), async (c) =>
    c.json(toInviteWithAcceptUrl(await requireInviteWithAcceptUrl(c.var.context, c.req.valid("param")))),
  )
  .post(
    "/invites/accept",
    openTo("PLATFORM_WEB_APP_TOKEN"),
    jsonBody(acceptInviteBody),
    inOrganizationOf(async ({ token }: AcceptInviteBody, { settings }) => ({
      id: (await verifyToken(settings, token)).organization_id,
    })),
    async (c) => c.json(toCreatedUser(await acceptInvite(c.var.context, c.req.valid("json").token))),
  );
