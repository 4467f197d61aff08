import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { matchesDigest, shardOfSecret } from "../../bytes/digest.ts";
import { type Context, openContext } from "../../context.ts";
import { isMoving } from "../../database/causes.ts";
import { envOfShard, findEnvOfShard } from "../../database/shards.ts";
import { readActingUser } from "../../http/acting_user.ts";
import type { ExternalEnv } from "../../http/hono.ts";
import { requireKnownParameters } from "../../http/parameters.ts";
import { readIfMatch } from "../../http/preconditions.ts";
import { quotaOf } from "../../http/quotas.ts";
import { countBodyLength, countLookUp, countRequest, failedCredentials } from "../../http/rate_limits.ts";
import { answerWithBookmark, openDatabase } from "../../http/replication.ts";
import { hasOneOf, requireRoleOf, rolesFor } from "../../http/roles.ts";
import { requireScope } from "../../http/scopes.ts";
import { isRouted } from "../../http/unrouted.ts";
import { CLIENT_ID_BYTES, EXTERNAL_BODY_LIMIT } from "../../limits.ts";
import { readSettings } from "../../settings.ts";
import { organizationSuspended } from "../organizations/organizations.refusals.ts";
import { countBytes, countStored } from "../usage/usage.quotas.ts";
import { lookUpAgain, noteUse, recallClient } from "./api_clients.cache.ts";
import { invalidClient } from "./api_clients.refusals.ts";

/**
 * All refusals look the same. A client's id names the shard in which it was created; if its organization has moved since, the
 * look-up finds the new one.
 */
export const externalApi = createMiddleware<ExternalEnv>(async (c, next) => {
  const shard = shardOfSecret(c.req.header("X-Client-ID") ?? "", CLIENT_ID_BYTES);
  const env = findEnvOfShard(c.env, shard);
  c.env = env ?? c.env;
  const asked = { now: Date.now(), settings: readSettings(c.env) };
  const client = env && (await authenticate(c, asked));
  if (!client) throw await failedCredentials(c, asked, invalidClient());
  const { caller } = client;
  c.env = envOfShard(c.env, client.shard);
  const context = openContext(c.env, asked.now, openDatabase(c), c.var.requestId);
  const { organization_user_id: user_id, api_client_id } = caller;
  const { method, url } = c.req;
  Object.assign(context.requester, { user_id, api_client_id });
  c.set("context", Object.assign(context, { caller, url, writes: 1 }));
  countStored(c.var.context, method, quotaOf(c));
  c.set("bodyLimit", EXTERNAL_BODY_LIMIT);
  c.set("bodyOwner", caller.organization_id);
  c.set("beforeBody", (size) => countBodyLength(c, c.var.context, size));
  c.set("onWholeRequest", async (size) => {
    context.now = Date.now();
    const known = await recall(c, context, client.id);
    if (!known) {
      // The client no longer exists, so the response must not state its rate limit.
      c.header("RateLimit-Policy", undefined);
      throw await failedCredentials(c, context, invalidClient());
    }
    if (known.is_suspended) throw organizationSuspended();
    c.var.context.caller = known.caller;
    countBytes(c.var.context, size);
  });
  await countRequest(c, c.var.context);
  try {
    // An unknown path gets 404, and an unknown method 405, regardless of the scopes and the headers.
    if (isRouted(c)) {
      if (client.is_suspended) throw organizationSuspended();
      requireScope(c, caller);
      await requireRole(c, client.id);
      Object.assign(context.requester, readActingUser(c));
      Object.assign(context, { if_match: readIfMatch(c) });
      requireKnownParameters(c);
    }
    await answerWithBookmark(c, next);
    if (isMoving(c.error)) lookUpAgain(client.id);
  } finally {
    // Written last, so that it does not delay the request's own queries.
    c.executionCtx.waitUntil(noteUse(c.env, client.id, context.now));
  }
});

type Asked = Pick<Context, "now" | "settings">;

async function authenticate(c: HonoContext<ExternalEnv>, asked: Asked) {
  const clientId = c.req.header("X-Client-ID");
  const clientSecret = c.req.header("X-Client-Secret");
  if (!clientId || !clientSecret) return null;
  const client = await recall(c, asked, clientId);
  const isRight = client && (await matchesDigest(clientSecret, client.secret_digest));
  return isRight ? { ...client, id: clientId } : null;
}

/** Looks the client up again first, because its user may just have got the role. */
async function requireRole(c: HonoContext<ExternalEnv>, clientId: string): Promise<void> {
  const { context } = c.var;
  const needed = rolesFor(c);
  if (hasOneOf(context.caller, needed)) return;
  lookUpAgain(clientId);
  const known = await recall(c, context, clientId);
  if (known) context.caller = known.caller;
  requireRoleOf(context.caller, ...needed);
}

const recall = (c: HonoContext<ExternalEnv>, asked: Asked, clientId: string) =>
  recallClient(c.env, clientId, asked.now, {
    inBackground: (work) => c.executionCtx.waitUntil(work),
    beforeLookUp: () => countLookUp(c, asked),
  });
