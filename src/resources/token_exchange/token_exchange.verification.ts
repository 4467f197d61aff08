import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { Database } from "../../database/database.ts";
import { runFirst } from "../../database/queries.ts";
import { ApiError } from "../../http/errors.ts";
import { email } from "../../http/wire.ts";
import { PROVIDER_RETRY_AFTER, TOKEN_CLOCK_TOLERANCE } from "../../limits.ts";
import { KeysUnavailable, keysOf } from "../issuers/issuers.keys.ts";
import type { Issuer } from "../issuers/issuers.schemas.ts";
import { issuerByName } from "../issuers/issuers.sql.ts";

/** Only asymmetric ones: with a symmetric one, anyone who can verify can sign (RFC 8725, section 3.2). */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  "EdDSA",
];

/** The reason is for the log; callers always get the same text. */
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
  // Read for each token: an issuer that was deleted is trusted no longer.
  const issuer = await runFirst(db, issuerByName({ organization_id, issuer: claimedIssuer(token) }));
  if (!issuer) throw invalidToken("issuer_unknown");
  return emailOf(await verifyClaims(token, issuer, now), issuer);
}

/** Not verified: it only says by whose keys to verify. */
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
  // Some providers send it as text. Any other value does not count as verified.
  if (![undefined, true, "true"].includes(payload.email_verified as undefined | boolean | string))
    throw invalidToken("email_not_verified");
  return data;
}
