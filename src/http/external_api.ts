import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import { matchesDigest, shardOfSecret } from "../bytes/digest.ts";
import { type ClientContext, type Context, openContext } from "../context.ts";
import { newShardOfId } from "../database/moves.ts";
import { envOfShard, findEnvOfShard } from "../database/shards.ts";
import { CLIENT_ID_BYTES, EXTERNAL_BODY_LIMIT } from "../limits.ts";
import { forgetClient, recallClient } from "../resources/api_clients/api_clients.cache.ts";
import { INVALID_CLIENT } from "../resources/api_clients/api_clients.refusals.ts";
import { readActingUser } from "./acting_user.ts";
import { type ApiEnv, newHono } from "./hono.ts";
import { countBody, countStored } from "./quotas.ts";
import { countLookUp, countRequest, failedCredentials } from "./rate_limits.ts";
import { answerWithBookmark, openDatabase, setHome } from "./replication.ts";

export type ExternalEnv = ApiEnv<ClientContext>;

/** Routes that API clients call. */
export const externalRoutes = () => newHono<ExternalEnv>();

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
  const { organization_user_id: user_id, api_client_id } = caller;
  const { method, url } = c.req;
  Object.assign(context.requester, { user_id, api_client_id });
  c.set("context", Object.assign(context, { caller, url, writes: 0 }));
  countStored(c.var.context, method);
  c.set("bodyLimit", EXTERNAL_BODY_LIMIT);
  c.set("onWholeRequest", async (size) => {
    context.now = Date.now();
    const known = await recall(c, context, client.id);
    if (!known) {
      // It is a client no more, so no limit of one is named.
      c.header("RateLimit-Policy", undefined);
      throw await failedCredentials(c, context, INVALID_CLIENT);
    }
    c.var.context.caller = known.caller;
    countBody(c.var.context, size);
  });
  await countRequest(c, c.var.context);
  // An unknown path is 404, whatever the headers say.
  if (!routePath(c, -1).endsWith("*")) Object.assign(context.requester, readActingUser(c));
  await answerWithBookmark(c, next);
});

async function authenticate(c: HonoContext<ExternalEnv>, context: Context) {
  const clientId = c.req.header("X-Client-ID");
  const clientSecret = c.req.header("X-Client-Secret");
  if (!clientId || !clientSecret) return null;
  const client = await recall(c, context, clientId);
  const isRight = client && (await matchesDigest(clientSecret, client.secret_digest));
  return isRight ? { ...client, id: clientId } : null;
}

const recall = (c: HonoContext<ExternalEnv>, context: Context, clientId: string) =>
  recallClient(c.env, clientId, context.now, {
    inBackground: (work) => c.executionCtx.waitUntil(work),
    beforeLookUp: () => countLookUp(c, context),
  });
