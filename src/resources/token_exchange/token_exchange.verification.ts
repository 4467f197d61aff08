import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { Database } from "../../database/database.ts";
import { runFirst } from "../../database/queries.ts";
import { ApiError } from "../../http/errors.ts";
import type { RefusalReason } from "../../http/log_names.ts";
import { email } from "../../http/wire.ts";
import { PROVIDER_RETRY_AFTER, TOKEN_CLOCK_TOLERANCE } from "../../limits.ts";
import { KeysUnavailable, KeyUnusable, keysOf } from "../issuers/issuers.keys.ts";
import type { Issuer } from "../issuers/issuers.schemas.ts";
import { issuerByName } from "../issuers/issuers.sql.ts";

/** Only asymmetric ones: with a symmetric one, anyone who can verify can sign (RFC 8725, section 3.2). */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  "EdDSA",
];

/** Why a token is refused. */
type TokenFault = RefusalReason<"token">;

/** The reason is for the log; callers always get the same text. */
export const invalidToken = (reason: TokenFault) => new ApiError(401, "Invalid token", { reason });

/**
 * The email that a token vouches for, by the claims of an issuer that the organization recognizes (RFC 7519,
 * RFC 8725).
 *
 * @throws ApiError 401 if there is any fault in the token, 503 if the issuer's keys cannot be had
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

async function verifyClaims(token: string, issuer: Issuer, now: number): Promise<JWTPayload> {
  try {
    const payload = await verifyWithAnyKey(token, issuer, now);
    requireTime(payload, now);
    return payload;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof KeysUnavailable)
      throw new ApiError(
        503,
        `The keys of the identity provider cannot be fetched; try again in ${PROVIDER_RETRY_AFTER} seconds`,
        { headers: { "Retry-After": String(PROVIDER_RETRY_AFTER) }, reason: error.fault },
      );
    throw invalidToken(faultOf(error));
  }
}

/** Where several keys fit a token, for example because it names none, any of them may have signed it. */
async function verifyWithAnyKey(token: string, issuer: Issuer, now: number): Promise<JWTPayload> {
  const options = {
    issuer: issuer.issuer,
    audience: issuer.audience,
    algorithms: ALGORITHMS,
    requiredClaims: ["exp"],
    clockTolerance: TOKEN_CLOCK_TOLERANCE / 1000,
    currentDate: new Date(now),
  };
  const verifyWith = async (key: JWTVerifyGetKey) => {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof KeysUnavailable) throw error;
      // jose's own errors are about the token. Others come from a key that it cannot import, or that is too weak.
      throw new KeyUnusable("The key cannot be used", { cause: error });
    }
  };
  try {
    return await verifyWith(keysOf(issuer.jwks_url));
  } catch (candidates) {
    if (!(candidates instanceof errors.JWKSMultipleMatchingKeys)) throw candidates;
    for await (const key of candidates) {
      try {
        return await verifyWith(() => key);
      } catch (error) {
        // Any other fault is one of the claims, which are looked at when the signature was right.
        const isFaultOfKey = ["signature_invalid", "key_unusable"].includes(faultOf(error));
        if (!isFaultOfKey) throw error;
      }
    }
    throw invalidToken("signature_invalid");
  }
}

/**
 * What jose leaves open: a token ends to the second, because its provider meant it so, and one that is yet to be issued
 * is refused. That these are numbers was checked.
 */
function requireTime({ exp = 0, iat = 0 }: JWTPayload, now: number) {
  if (exp * 1000 <= now) throw invalidToken("expired");
  if (iat * 1000 > now + TOKEN_CLOCK_TOLERANCE) throw invalidToken("not_yet_valid");
}

function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return claimFaultOf(error);
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature_invalid";
  if (error instanceof errors.JWKSNoMatchingKey) return "key_unknown";
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm_not_allowed";
  if (error instanceof KeyUnusable) return "key_unusable";
  if (error instanceof errors.JOSEError) return "malformed";
  throw error;
}

function claimFaultOf({ claim, reason }: errors.JWTClaimValidationFailed | errors.JWTExpired): TokenFault {
  if (reason === "missing") return "claim_missing";
  if (reason === "invalid") return "claim_malformed";
  if (claim === "aud") return "audience_wrong";
  return claim === "exp" ? "expired" : "not_yet_valid";
}

function emailOf(payload: JWTPayload, { email_claim }: Issuer): string {
  const { data } = email.safeParse(payload[email_claim]);
  if (data === undefined) throw invalidToken("email_missing");
  // Some providers send it as text. Any other value does not count as verified.
  if (![undefined, true, "true"].includes(payload.email_verified as undefined | boolean | string))
    throw invalidToken("email_not_verified");
  return data;
}
