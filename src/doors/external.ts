import { Hono, type Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { recallClient } from "../api_clients/api_clients.cache.ts";
import type { ClientContext } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { matchesDigest } from "../digest.ts";
import { ApiError } from "../http/errors.ts";
import { EXTERNAL_BODY_LIMIT } from "../limits.ts";
import { readSettings } from "../settings.ts";

export interface ExternalEnv {
  Bindings: Env;
  Variables: { context: ClientContext };
}

/** Routes that API clients call. */
export const externalRoutes = () => new Hono<ExternalEnv>();

/** Authentication by the contract's client headers. Every cause of a refusal looks the same. */
export const externalDoor = createMiddleware<ExternalEnv>(async (c, next) => {
  const settings = readSettings(c.env);
  const db = openDatabase(c.env.DB);
  const now = Date.now();
  const caller = await authenticate(c, db, now);
  if (!caller) throw new ApiError(401, "Invalid client credentials");
  c.set("context", { db, settings, now, origin: new URL(c.req.url).origin, caller });
  c.set("bodyLimit", EXTERNAL_BODY_LIMIT);
  await next();
});

async function authenticate(c: HonoContext<ExternalEnv>, db: ClientContext["db"], now: number) {
  const clientId = c.req.header("X-Client-ID");
  const clientSecret = c.req.header("X-Client-Secret");
  if (!clientId || !clientSecret) return null;
  const client = await recallClient(db, clientId, now, (work) => c.executionCtx.waitUntil(work));
  return client && (await matchesDigest(clientSecret, client.secret_digest)) ? client.caller : null;
}
