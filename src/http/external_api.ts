import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import { matchesDigest, shardOfSecret } from "../bytes/digest.ts";
import { type ClientContext, type Context, openContext } from "../context.ts";
import { withBeside } from "../database/database.ts";
import { newShardOfId } from "../database/moves.ts";
import { envOfShard, findEnvOfShard } from "../database/shards.ts";
import { CLIENT_ID_BYTES, EXTERNAL_BODY_LIMIT } from "../limits.ts";
import { forgetClient, recallClient } from "../resources/api_clients/api_clients.cache.ts";
import { INVALID_CLIENT } from "../resources/api_clients/api_clients.refusals.ts";
import { countWrites } from "../resources/usage/usage.sql.ts";
import { readActingUser } from "./acting_user.ts";
import { dateOf } from "./dates.ts";
import { type ApiEnv, newHono } from "./hono.ts";
import { countLookUp, countRequest, failedCredentials } from "./rate_limits.ts";
import { answerWithBookmark, openDatabase, setHome } from "./replication.ts";

export type ExternalEnv = ApiEnv<ClientContext>;

/** Routes that API clients call. */
export const externalRoutes = () => newHono<ExternalEnv>();

/** What deletes takes away what has counted. So who has written all that they may can still revoke a client that has leaked. */
export const countsAsWrite = (method: string): boolean => !["GET", "HEAD", "DELETE"].includes(method);

/**
 * Authentication by the contract's client headers. Refusals look the same, whatever their cause. A client's id names the
 * shard of its organization, or of which it moved away: nothing behind this knows that there are others.
 */
export const externalApi = createMiddleware<ExternalEnv>(async (c, next) => {
  const shard = shardOfSecret(c.req.header("X-Client-ID") ?? "", CLIENT_ID_BYTES);
  const env = findEnvOfShard(c.env, shard);
  c.env = env ?? c.env;
  const open = () => openContext(c.env, Date.now(), { db: openDatabase(c), request_id: c.var.requestId });
  const named = open();
  const client = env && (await authenticate(c, named));
  if (!client) throw await failedCredentials(c, named, INVALID_CLIENT);
  const { caller } = client;
  c.env = envOfShard(c.env, client.shard);
  const context = client.shard === shard ? named : open();
  if (context.shards) setHome(c, newShardOfId({ id: caller.organization_id }), () => forgetClient(client.id));
  const { organization_id, organization_user_id: user_id, api_client_id } = caller;
  if (countsAsWrite(c.req.method))
    context.db = withBeside(
      context.db,
      countWrites({ organization_id, date: dateOf(context.now), count: 1 }),
    );
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
  const client = await recallClient(c.env, clientId, context.now, {
    inBackground: (work) => c.executionCtx.waitUntil(work),
    beforeLookUp: () => countLookUp(c, context),
  });
  const isRight = client && (await matchesDigest(clientSecret, client.secret_digest));
  return isRight ? { ...client, id: clientId } : null;
}
