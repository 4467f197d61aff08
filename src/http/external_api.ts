import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import { matchesDigest, shardOfSecret } from "../bytes/digest.ts";
import { type ClientContext, type Context, openContext } from "../context.ts";
import { withBeside } from "../database/database.ts";
import { findEnvOfShard } from "../database/shards.ts";
import { CLIENT_ID_BYTES, EXTERNAL_BODY_LIMIT } from "../limits.ts";
import { recallClient } from "../resources/api_clients/api_clients.cache.ts";
import { INVALID_CLIENT } from "../resources/api_clients/api_clients.refusals.ts";
import { countWrite } from "../resources/usage/usage.sql.ts";
import { readActingUser } from "./acting_user.ts";
import { dateOf } from "./dates.ts";
import { newHono } from "./hono.ts";
import { countLookUp, countRequest, failedCredentials } from "./rate_limits.ts";
import { answerWithBookmark, openDatabase } from "./replication.ts";

export interface ExternalEnv {
  Bindings: Env;
  Variables: { context: ClientContext };
}

/** Routes that API clients call. */
export const externalRoutes = () => newHono<ExternalEnv>();

/**
 * Authentication by the contract's client headers. Refusals look the same, whatever their cause. A client's id names the
 * shard of its organization: nothing behind this knows that there are others.
 */
export const externalApi = createMiddleware<ExternalEnv>(async (c, next) => {
  const shard = shardOfSecret(c.req.header("X-Client-ID") ?? "", CLIENT_ID_BYTES);
  const env = findEnvOfShard(c.env, shard);
  c.env = env ?? c.env;
  const context = openContext(c.env, Date.now(), { db: openDatabase(c), request_id: c.var.requestId });
  const caller = env && (await authenticate(c, context));
  if (!caller) throw await failedCredentials(c, context, INVALID_CLIENT);
  const { organization_id, organization_user_id: user_id, api_client_id } = caller;
  if (!["GET", "HEAD"].includes(c.req.method))
    context.db = withBeside(context.db, countWrite({ organization_id, date: dateOf(context.now) }));
  Object.assign(context.requester, { user_id, api_client_id });
  c.set("context", Object.assign(context, { caller, url: c.req.url }));
  c.set("bodyLimit", EXTERNAL_BODY_LIMIT);
  await countRequest(c, c.var.context);
  const requireHeaders = () => void Object.assign(context.requester, readActingUser(c));
  // A malformed id in the path is 404, whatever the headers say, and an unknown path too.
  const pattern = routePath(c, -1);
  if (pattern.includes(":")) c.set("requireHeaders", requireHeaders);
  else if (!pattern.endsWith("*")) requireHeaders();
  await answerWithBookmark(c, next);
});

async function authenticate(c: HonoContext<ExternalEnv>, context: Context) {
  const clientId = c.req.header("X-Client-ID");
  const clientSecret = c.req.header("X-Client-Secret");
  if (!clientId || !clientSecret) return null;
  const client = await recallClient(c.env.DB, clientId, context.now, {
    inBackground: (work) => c.executionCtx.waitUntil(work),
    beforeLookUp: () => countLookUp(c, context),
  });
  return client && (await matchesDigest(clientSecret, client.secret_digest)) ? client.caller : null;
}
