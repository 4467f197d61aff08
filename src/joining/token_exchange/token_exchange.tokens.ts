import { compactVerify, decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { ApiError } from "../../http/errors.ts";
import { email } from "../../http/wire.ts";
import { TOKEN_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { KeysUnavailable, KeyUnusable, keysOfProvider } from "../../organization/issuers/issuers.keys.ts";
import type { Issuer } from "../../organization/issuers/issuers.schemas.ts";
import { MAX_KEYS_TRIED } from "../../tuning.ts";
import { invalidToken, providerUnavailable, type TokenFault } from "./token_exchange.refusals.ts";

/** Only asymmetric algorithms: with a symmetric one, anyone who can verify can also sign (RFC 8725, section 3.2). */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  // Both names mean EdDSA; RFC 9864 names the curve.
  ...["EdDSA", "Ed25519"],
];

const OUTSIDE = " \t\r\n";

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/**
 * Without the spaces and line breaks that copying adds. `trim()` removes more, and a regular expression can be slow.
 *
 * @throws ApiError 401 unless the token has three base64url parts (RFC 7515): jose accepts more
 */
export function compactToken(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && OUTSIDE.includes(text.charAt(start))) start++;
  while (end > start && OUTSIDE.includes(text.charAt(end - 1))) end--;
  const token = text.slice(start, end);
  if (!COMPACT.test(token)) throw invalidToken("malformed");
  return token;
}

/**
 * The issuer is not verified yet: it selects the keys.
 *
 * @throws ApiError 401
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

interface VerifiedEmail {
  /** Empty if the token vouches for no email. No user has an empty email. */
  email: string;
  fault: TokenFault;
}

/**
 * By the claims of an issuer that the organization recognizes (RFC 7519, RFC 8725).
 *
 * @throws ApiError 401 if the token is not properly signed, for this service and valid now; 503 without the issuer's keys
 */
export async function verifiedEmail(token: string, issuers: Issuer[], now: number): Promise<VerifiedEmail> {
  const claims = decodeJwt(token);
  // Checked before any key is fetched, because no signature can make wrong claims right.
  const issuer = issuerOfClaims(claims, issuers, now);
  try {
    await verifySignature(token, issuer);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof KeysUnavailable) throw providerUnavailable(error.fault);
    throw invalidToken(tokenFaultOf(error));
  }
  return emailOf(claims, issuer);
}

/** `exp` has no tolerance, because the provider set it to the second. */
function issuerOfClaims({ aud, exp, nbf = 0, iat = 0 }: JWTPayload, issuers: Issuer[], now: number): Issuer {
  if (aud === undefined || exp === undefined) throw invalidToken("claim_missing");
  if (![exp, nbf, iat].every(Number.isFinite)) throw invalidToken("claim_malformed");
  const issuer = issuers.find(({ audience }) => [aud].flat().includes(audience));
  if (!issuer) throw invalidToken("audience_wrong");
  if (exp * 1000 <= now) throw invalidToken("expired");
  if (Math.max(nbf, iat) * 1000 > now + TOKEN_CLOCK_TOLERANCE) throw invalidToken("not_yet_valid");
  return issuer;
}

/** Several keys fit a token without a key id, for example. */
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
    // jose's own errors are about the token. Other errors come from a key that is too weak or cannot be imported.
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

/** Not verified. The audience selects the registration that names the claim with the email. */
export function claimsOf(token: string, issuers: Issuer[]) {
  const claims = decodeJwt(token);
  const audiences = [claims.aud].flat();
  const issuer = issuers.find(({ audience }) => audiences.includes(audience));
  const claimed = claimOf(claims, issuer ?? (issuers[0] as Issuer));
  return {
    audience: issuer?.audience ?? audiences.find((each) => typeof each === "string") ?? null,
    email: typeof claimed === "string" ? (email().safeParse(claimed).data ?? claimed) : null,
  };
}

function claimOf(payload: JWTPayload, { email_claim }: Issuer): unknown {
  const claim = payload[email_claim];
  return Array.isArray(claim) && claim.length === 1 ? claim[0] : claim;
}

function emailOf(payload: JWTPayload, issuer: Issuer): VerifiedEmail {
  const { email_claim, require_verified_email } = issuer;
  const { data } = email().safeParse(claimOf(payload, issuer));
  if (data === undefined) return { email: "", fault: "email_missing" };
  // Belongs to the claim `email`. Some providers send it as a string; any other value does not count as verified.
  const { email_verified = null } = payload;
  const isVerified = email_verified === null || email_verified === true || email_verified === "true";
  if (email_claim === "email" && require_verified_email && !isVerified)
    return { email: "", fault: "email_not_verified" };
  return { email: data, fault: "user_unknown" };
}
