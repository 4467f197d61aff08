import { createMiddleware } from "hono/factory";
import { errors, jwtVerify } from "jose";
import { base64Of } from "../bytes/base64.ts";
import { digestBytes } from "../bytes/digest.ts";
import type { Context } from "../context.ts";
import { readBody } from "../http/body.ts";
import { newHono } from "../http/hono.ts";
import { type PlatformEnv, takeTimeWhenWhole } from "../http/platform_api.ts";
import { failedCredentials } from "../http/rate_limits.ts";
import { answerWithBookmark, openRequest } from "../http/replication.ts";
import { LIVEKIT_CLOCK_TOLERANCE } from "../lifetimes.ts";
import { LIVEKIT_BODY_LIMIT } from "../limits.ts";
import type { Settings } from "../settings.ts";

/** Routes that a LiveKit server calls. */
export const liveKitRoutes = () => newHono<PlatformEnv>();

/**
 * Authentication by LiveKit's signature: a JWT in the header `Authorization`, which names the SHA-256 of the body. All
 * faults look the same. Only a body that is too large is refused with 413, and only where the JWT is right.
 */
export const liveKitApi = createMiddleware<PlatformEnv>(async (c, next) => {
  const context = openRequest(c);
  const digest = await signedDigest(context, c.req.header("Authorization") ?? "");
  const notSigned = () => failedCredentials(c, context, "Invalid LiveKit signature");
  if (digest === null) throw await notSigned();
  takeTimeWhenWhole(c);
  c.set("keepsBody", true);
  // In base64 with padding, as LiveKit writes it.
  const digestOfBody = base64Of(await digestBytes(await readBody(c, LIVEKIT_BODY_LIMIT)));
  if (digest !== digestOfBody) throw await notSigned();
  await answerWithBookmark(c, next);
});

/** The digest of the body that a token of LiveKit's names, or null if it is not such a token. */
async function signedDigest({ settings, now }: Context, token: string): Promise<string | null> {
  for (const { key, secret } of signingKeys(settings)) {
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

/** During a rotation, two keys are valid. Where none is set, nothing is signed correctly. */
function signingKeys(settings: Settings): { key: string; secret: string }[] {
  const pairs = [
    [settings.LIVEKIT_API_KEY, settings.LIVEKIT_API_SECRET],
    [settings.LIVEKIT_API_KEY_PREVIOUS, settings.LIVEKIT_API_SECRET_PREVIOUS],
  ];
  return pairs.flatMap(([key, secret]) => (key && secret ? [{ key, secret }] : []));
}
