import { compactVerify, decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { ApiError } from "../../http/errors.ts";
import { email } from "../../http/wire.ts";
import { TOKEN_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { MAX_KEYS_TRIED } from "../../tuning.ts";
import { KeysUnavailable, KeyUnusable, keysOfProvider } from "../issuers/issuers.keys.ts";
import type { Issuer } from "../issuers/issuers.schemas.ts";
import { invalidToken, providerUnavailable, type TokenFault } from "./token_exchange.refusals.ts";

/** Only asymmetric ones: with a symmetric one, anyone who can verify can sign (RFC 8725, section 3.2). */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  // The same, but RFC 9864 names the curve.
  ...["EdDSA", "Ed25519"],
];

/**
 * The issuer that a token names. Not verified: it only says by whose keys to verify.
 *
 * @throws ApiError 401 if the token is malformed or names none
 */
export function claimedIssuer(token: string): string {
  try {
    const { iss } = decodeJwt(token);
    if (typeof iss === "string") return iss;
  } catch {
    throw invalidToken("malformed");
  }
  throw invalidToken("issuer_missing");
}

/**
 * The email that a token vouches for, by the claims of an issuer that the organization recognizes (RFC 7519,
 * RFC 8725).
 *
 * @throws ApiError 401 if there is any fault in the token, 503 if the issuer's keys cannot be had
 */
export async function verifiedEmail(token: string, issuer: Issuer, now: number): Promise<string> {
  const claims = decodeJwt(token);
  // Before any key is fetched: no signature makes these right.
  requireClaims(claims, issuer, now);
  try {
    await verifySignature(token, issuer);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof KeysUnavailable) throw providerUnavailable(error.fault);
    throw invalidToken(tokenFaultOf(error));
  }
  return emailOf(claims, issuer);
}

/** A token ends to the second, because its provider meant it so. */
function requireClaims({ aud, exp, nbf = 0, iat = 0 }: JWTPayload, { audience }: Issuer, now: number) {
  if (aud === undefined || exp === undefined) throw invalidToken("claim_missing");
  if (![exp, nbf, iat].every(Number.isFinite)) throw invalidToken("claim_malformed");
  if (![aud].flat().includes(audience)) throw invalidToken("audience_wrong");
  if (exp * 1000 <= now) throw invalidToken("expired");
  if (Math.max(nbf, iat) * 1000 > now + TOKEN_CLOCK_TOLERANCE) throw invalidToken("not_yet_valid");
}

/** Where several keys fit a token, for example because it names none, any of them may have signed it. */
async function verifySignature(token: string, issuer: Issuer) {
  try {
    await verifyWith(token, keysOfProvider(issuer.jwks_url));
  } catch (candidates) {
    if (!(candidates instanceof errors.JWKSMultipleMatchingKeys)) throw candidates;
    await verifyWithAny(token, candidates);
  }
}

async function verifyWithAny(token: string, keys: AsyncIterable<CryptoKey>) {
  let tried = 0;
  for await (const key of keys) {
    if (++tried > MAX_KEYS_TRIED) break;
    try {
      return await verifyWith(token, () => key);
    } catch (error) {
      const isFaultOfKey = ["signature_invalid", "key_unusable"].includes(tokenFaultOf(error));
      if (!isFaultOfKey) throw error;
    }
  }
  throw invalidToken("signature_invalid");
}

async function verifyWith(token: string, key: JWTVerifyGetKey | (() => CryptoKey)) {
  try {
    const { protectedHeader } = await compactVerify(token, key, { algorithms: ALGORITHMS });
    // RFC 7797, section 7: the claims of a JWT are always encoded.
    if (protectedHeader.b64 === false) throw new errors.JWTInvalid("The claims are not encoded");
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof KeysUnavailable) throw error;
    // jose's own errors are about the token. Others come from a key that it cannot import, or that is too weak.
    throw new KeyUnusable("The key cannot be used", { cause: error });
  }
}

function tokenFaultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature_invalid";
  if (error instanceof errors.JWKSNoMatchingKey) return "key_unknown";
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm_not_allowed";
  if (error instanceof KeyUnusable) return "key_unusable";
  if (error instanceof errors.JOSEError) return "malformed";
  throw error;
}

function emailOf(payload: JWTPayload, { email_claim }: Issuer): string {
  const { data } = email().safeParse(payload[email_claim]);
  if (data === undefined) throw invalidToken("email_missing");
  // Some providers send it as text. Any other value does not count as verified.
  if (![undefined, true, "true"].includes(payload.email_verified as undefined | boolean | string))
    throw invalidToken("email_not_verified");
  return data;
}
