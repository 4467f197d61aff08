/** The floor's token exchange: the issuer, jose's verification, and the code that is made only for a user. */
import { createRemoteJWKSet, decodeJwt, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { FloorHandler } from "./floor.ts";
import { write } from "./floor_statements.ts";

const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split(" ");

export const signIn: Record<string, FloorHandler> = {
  "POST 5 auth": async (request) => {
    const { token } = (await request.request.json<{ token_exchange: { token: string } }>()).token_exchange;
    const { caller, now } = request;
    const issuer = await write(
      request,
      "select issuer, audience, jwks_url, email_claim from issuers where organization_id = ? and issuer = ?",
      caller.organization_id,
      decodeJwt(token).iss,
    );
    if (!issuer) return null;
    const { payload } = await jwtVerify(token, keysOf(issuer.jwks_url), {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["exp"],
      clockTolerance: 60,
      currentDate: new Date(now),
    });
    const code = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(code));
    const row = await write(
      request,
      `insert into authorization_codes (organization_id, organization_user_id, code_digest, expires_at, created_at)
      select ?1, id, ?3, ?4, ?5 from organization_users
      where organization_id = ?1 and user_id = (select id from users where email = ?2) returning id`,
      caller.organization_id,
      payload[issuer.email_claim],
      Buffer.from(digest).toString("hex"),
      now + 60_000,
      now,
    );
    return row && { body: { code } };
  },
};

const keySets = new Map<string, JWTVerifyGetKey>();

function keysOf(jwks_url: string): JWTVerifyGetKey {
  const known = keySets.get(jwks_url) ?? createRemoteJWKSet(new URL(jwks_url));
  keySets.set(jwks_url, known);
  return known;
}
