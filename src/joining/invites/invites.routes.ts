import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { inOrganizationOf } from "../../http/organization.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { idParams, ownParams } from "../../http/wire.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { toCreatedUser } from "../organization_users/organization_users.schemas.ts";
import { acceptInvite, listInvitesWithAcceptUrls, requireInviteWithAcceptUrl } from "./invites.acceptance.ts";
import * as schemas from "./invites.schemas.ts";
import { createInvite, deleteInvite, listInvites, requireInvite, resendInvite } from "./invites.service.ts";
import { verifyToken } from "./invites.tokens.ts";

const byId = params(idParams);

export const invitesExternal = externalRoutes()
  .on("POST", ["/invites", "/invites/:id/resend"], async (c, next) => {
    await next();
    if (c.res.ok) c.executionCtx.waitUntil(nudgeInviteMails(c.var.context));
  })
  .get("/invites", area("members"), query(schemas.inviteListQuery), async (c) => {
    const { items, pagination } = await listInvites(c.var.context, c.req.valid("query"));
    return c.json({ organization_invites: items.map(schemas.toInvite), pagination });
  })
  .post("/invites", area("members"), idempotent, jsonBody(schemas.createInviteBody), async (c) => {
    const invite = await createInvite(c.var.context, c.req.valid("json").organization_invite);
    return c.json(schemas.toInvite(invite), 201);
  })
  .post("/invites/:id/resend", area("members"), byId, async (c) =>
    c.json(schemas.toInvite(await resendInvite(c.var.context, c.req.valid("param").id)), 202),
  )
  .get("/invites/:id", area("members"), byId, async (c) =>
    c.json(schemas.toInvite(await requireInvite(c.var.context, c.req.valid("param").id))),
  )
  .delete("/invites/:id", area("members"), byId, (c) =>
    noContent(c, deleteInvite(c.var.context, c.req.valid("param").id)),
  );

export const invitesPlatform = platformRoutes()
  .get("/invites", query(schemas.activeInvitesQuery), async (c) => {
    const { invites, next_after } = await listInvitesWithAcceptUrls(c.var.context, c.req.valid("query"));
    return c.json({ organization_invites: invites.map(schemas.toInviteWithAcceptUrl), next_after });
  })
  .get("/organizations/:organization_id/invites/:id", params(ownParams), async (c) =>
    c.json(
      schemas.toInviteWithAcceptUrl(await requireInviteWithAcceptUrl(c.var.context, c.req.valid("param"))),
    ),
  )
  .post(
    "/invites/accept",
    openTo("PLATFORM_WEB_APP_TOKEN"),
    jsonBody(schemas.acceptInviteBody),
    inOrganizationOf(async ({ token }: schemas.AcceptInviteBody, { settings }) => ({
      id: (await verifyToken(settings, token)).organization_id,
    })),
    async (c) => c.json(toCreatedUser(await acceptInvite(c.var.context, c.req.valid("json").token))),
  );
