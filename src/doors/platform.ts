import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { digest, matchesDigest } from "../digest.ts";
import { ApiError } from "../http/errors.ts";
import { PLATFORM_BODY_LIMIT } from "../limits.ts";
import { readSettings } from "../settings.ts";

export interface PlatformEnv {
  Bindings: Env;
  Variables: { context: Context };
}

/** Routes that the video platform calls. */
export const platformRoutes = () => new Hono<PlatformEnv>();

/** Authentication by the platform's bearer token (RFC 6750). */
export const platformDoor = createMiddleware<PlatformEnv>(async (c, next) => {
  const settings = readSettings(c.env);
  const token = /^Bearer +(.+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  if (!token || !(await matchesDigest(token, await digest(settings.PLATFORM_API_TOKEN))))
    throw new ApiError(401, "Invalid platform token");
  c.set("context", {
    db: openDatabase(c.env.DB),
    settings,
    now: Date.now(),
    origin: new URL(c.req.url).origin,
  });
  c.set("bodyLimit", PLATFORM_BODY_LIMIT);
  await next();
});
