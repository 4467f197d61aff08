import { costly } from "../../http/costly_requests.ts";
import { externalRoutes } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { idParams } from "../../http/wire.ts";
import { BULK_INVITES_BODY_LIMIT } from "../../limits.ts";
import { queueBulkInvites } from "./bulk_invites.queue.ts";
import { createBulkInviteBody, toBulkInvite, toFailure } from "./bulk_invites.schemas.ts";
import { createBulkInvite, requireBulkInvite } from "./bulk_invites.service.ts";

export const bulkInvitesExternal = externalRoutes()
  .post(
    "/invites/bulk_create",
    area("members"),
    costly("bulk_invites"),
    idempotent,
    jsonBody(createBulkInviteBody, { limit: BULK_INVITES_BODY_LIMIT }),
    async (c) => {
      const bulkInvite = await createBulkInvite(c.var.context, c.req.valid("json").organization_invites);
      const headers = { Location: `/api/external/bulk_invites/${bulkInvite.id}` };
      c.executionCtx.waitUntil(queueBulkInvites(c.var.context, [bulkInvite]));
      return c.json({ bulk_invite: toBulkInvite(bulkInvite) }, 201, headers);
    },
  )
  .get("/bulk_invites/:id", area("members"), params(idParams), async (c) => {
    const { bulkInvite, failures } = await requireBulkInvite(c.var.context, c.req.valid("param").id);
    return c.json({ bulk_invite: { ...toBulkInvite(bulkInvite), failures: failures.map(toFailure) } });
  });
