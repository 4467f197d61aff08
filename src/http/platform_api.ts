import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import type { Context } from "../context.ts";
import { PLATFORM_BODY_LIMIT } from "../limits.ts";
import { ApiError } from "./errors.ts";
import { type ApiEnv, newHono } from "./hono.ts";
import { requireKnownParameters } from "./parameters.ts";
import { platformTokenOf, requireToken } from "./platform_tokens.ts";
import { readIfMatch } from "./preconditions.ts";
import { failedCredentials, senderOf } from "./rate_limits.ts";
import { answerWithBookmark, openRequest } from "./replication.ts";
import { isRouted } from "./unrouted.ts";

export type PlatformEnv = ApiEnv<Context>;

export const platformRoutes = () => newHono<PlatformEnv>();

export const invalidPlatformToken = () =>
  new ApiError(401, "invalid_platform_token", "Invalid platform token");

/** RFC 6750. */
export const platformApi = createMiddleware<PlatformEnv>(async (c, next) => {
  const context = openRequest(c);
  const token = /^Bearer +(.+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  const name = token && (await platformTokenOf(context.settings, token));
  if (!name) throw await failedCredentials(c, context, invalidPlatformToken());
  // An unknown path gets 404, and an unknown method 405, even if the token has no access.
  if (isRouted(c)) {
    requireToken(c, name);
    readIfMatch(c);
    requireKnownParameters(c);
  }
  c.set("bodyLimit", PLATFORM_BODY_LIMIT);
  prepareBody(c);
  await answerWithBookmark(c, next);
});

/** Sets `now` when the body is complete. The caller's rights depend only on its token, so they need not be read again. */
export function prepareBody(c: HonoContext<PlatformEnv>) {
  c.set("bodyOwner", senderOf(c));
  c.set("onWholeRequest", () => {
    c.var.context.now = Date.now();
  });
}
