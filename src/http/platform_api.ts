import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { digestBytes, matchesDigest } from "../bytes/digest.ts";
import type { Context } from "../context.ts";
import { PLATFORM_BODY_LIMIT } from "../limits.ts";
import type { Settings } from "../settings.ts";
import { type ApiEnv, newHono } from "./hono.ts";
import { failedCredentials } from "./rate_limits.ts";
import { answerWithBookmark, openRequest } from "./replication.ts";

export type PlatformEnv = ApiEnv<Context>;

/** Routes that the video platform calls. */
export const platformRoutes = () => newHono<PlatformEnv>();

/** Authentication by the platform's bearer token (RFC 6750). */
export const platformApi = createMiddleware<PlatformEnv>(async (c, next) => {
  const context = openRequest(c);
  const token = /^Bearer +(.+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  if (!token || !(await isPlatformToken(context.settings, token)))
    throw await failedCredentials(c, context, "Invalid platform token");
  c.set("bodyLimit", PLATFORM_BODY_LIMIT);
  takeTimeWhenWhole(c);
  await answerWithBookmark(c, next);
});

/** The rights of the caller are those of a secret, which no request changes. */
export const takeTimeWhenWhole = (c: HonoContext<PlatformEnv>) =>
  c.set("onWholeRequest", () => {
    c.var.context.now = Date.now();
  });

/** During a rotation, two tokens are valid. */
async function isPlatformToken(
  { PLATFORM_API_TOKEN: current, PLATFORM_API_TOKEN_PREVIOUS: previous }: Settings,
  token: string,
): Promise<boolean> {
  if (await matchesDigest(token, await digestBytes(current))) return true;
  return previous !== undefined && matchesDigest(token, await digestBytes(previous));
}
