import { createMiddleware } from "hono/factory";
import { errors, jwtVerify } from "jose";
import { base64Of } from "../bytes/base64.ts";
import { digestBytes } from "../bytes/digest.ts";
import type { Context } from "../context.ts";
import { readBody } from "../http/body.ts";
import { ApiError } from "../http/errors.ts";
import { newHono } from "../http/hono.ts";
import { type PlatformEnv, prepareBody } from "../http/platform_api.ts";
import { failedCredentials } from "../http/rate_limits.ts";
import { answerWithBookmark, openRequest } from "../http/replication.ts";
import { isRouted } from "../http/unrouted.ts";
import { LIVEKIT_CLOCK_TOLERANCE } from "../lifetimes.ts";
import { LIVEKIT_BODY_LIMIT } from "../limits.ts";

export const liveKitRoutes = () => newHono<PlatformEnv>();

export const invalidSignature = () =>
  new ApiError(401, "invalid_livekit_signature", "Invalid LiveKit signature");

/**
 * Verifies LiveKit's signature: a JWT in the `Authorization` header that contains the SHA-256 of the body. All faults
 * get the same response, except that a body that is too large gets 413 if the JWT is valid.
 */
export const liveKitApi = createMiddleware<PlatformEnv>(async (c, next) => {
  const context = openRequest(c);
  const digest = await signedDigest(context, c.req.header("Authorization") ?? "");
  const notSigned = () => failedCredentials(c, context, invalidSignature());
  if (digest === null) throw await notSigned();
  if (!isRouted(c)) return next();
  prepareBody(c);
  c.set("keepsBody", true);
  const body = await readBody(c, LIVEKIT_BODY_LIMIT);
  // LiveKit writes the digest in base64 with padding.
  if (digest !== base64Of(await digestBytes(body))) throw await notSigned();
  await answerWithBookmark(c, next);
});

/** The digest of the body in a valid LiveKit token; null if the token is not valid. During a rotation, two keys are valid. */
async function signedDigest({ settings, now }: Context, token: string): Promise<string | null> {
  const pairs = [
    [settings.LIVEKIT_API_KEY, settings.LIVEKIT_API_SECRET],
    [settings.LIVEKIT_API_KEY_PREVIOUS, settings.LIVEKIT_API_SECRET_PREVIOUS],
  ];
  for (const [key, secret] of pairs) {
    if (!key || !secret) continue;
    try {
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
        algorithms: ["HS256"],
        issuer: key,
        requiredClaims: ["exp", "sha256"],
        clockTolerance: LIVEKIT_CLOCK_TOLERANCE / 1000,
        currentDate: new Date(now),
      });
      return typeof payload.sha256 === "string" ? payload.sha256 : null;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  return null;
}
