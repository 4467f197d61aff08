import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { Database } from "../../database/database.ts";
import { ApiError } from "../../http/errors.ts";
import { email } from "../../http/wire.ts";
import { PROVIDER_RETRY_AFTER, TOKEN_CLOCK_TOLERANCE } from "../../limits.ts";
import { KeysUnavailable, keysOf } from "../issuers/issuers.keys.ts";
import type { Issuer } from "../issuers/issuers.schemas.ts";
import { findIssuer } from "../issuers/issuers.service.ts";

/** Asymmetric ones alone: with a symmetric one, whoever can verify can sign (RFC 8725, section 3.2). */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  "EdDSA",
];

/** Many reasons within, for the log; one text without. */
export const invalidToken = (reason: string) => new ApiError(401, "Invalid token", { reason });

/**
 * The email that a token vouches for, by the claims of an issuer that the organization recognizes (RFC 7519,
 * RFC 8725).
 *
 * @throws ApiError 401 where there is any fault in the token, 503 where the issuer's keys cannot be had
 */
export async function verifyToken(
  db: Database,
  now: number,
  organization_id: number,
  token: string,
): Promise<string> {
  const issuer = await findIssuer(db, organization_id, claimedIssuer(token));
  if (!issuer) throw invalidToken("issuer_unknown");
  return emailOf(await verifyClaims(token, issuer, now), issuer);
}

/** Not verified: it tells by whose keys to verify. */
function claimedIssuer(token: string): string {
  try {
    const { iss } = decodeJwt(token);
    if (typeof iss === "string") return iss;
  } catch {
    throw invalidToken("malformed");
  }
  throw invalidToken("issuer_missing");
}

async function verifyClaims(token: string, { issuer, audience, jwks_url }: Issuer, now: number) {
  try {
    const { payload } = await jwtVerify(token, keysOf(jwks_url), {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["exp"],
      clockTolerance: TOKEN_CLOCK_TOLERANCE / 1000,
      currentDate: new Date(now),
    });
    return payload;
  } catch (error) {
    if (error instanceof KeysUnavailable)
      throw new ApiError(503, "Identity provider unavailable", {
        headers: { "Retry-After": String(PROVIDER_RETRY_AFTER) },
        reason: "keys_unavailable",
      });
    throw invalidToken(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) return `claim_${error.claim}_${error.reason}`;
  return error instanceof errors.JOSEError ? error.code : "malformed";
}

function emailOf(payload: JWTPayload, { email_claim }: Issuer): string {
  const { data } = email.safeParse(payload[email_claim]);
  if (data === undefined) throw invalidToken("email_missing");
  // Some providers say it as text; whatever is neither is no assurance.
  if (![undefined, true, "true"].includes(payload.email_verified as undefined | boolean | string))
    throw invalidToken("email_not_verified");
  return data;
}
