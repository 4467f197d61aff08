import { generateKeyPairSync, sign } from "node:crypto";
import { SECOND } from "../../src/units.ts";
import { base64url } from "../project/support/worker_in_node.ts";
import type { Clinic, Outcome } from "./clinic.ts";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The keys that the identity provider publishes. */
export const publishedKeys = () =>
  Response.json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "key", alg: "ES256" }] });

/** A token of the identity provider, which is valid for an hour. */
export function tokenOf(claims: { iss: string; aud: string; email: string }, now: number): string {
  const exp = Math.floor(now / SECOND) + 3600;
  const signed = `${base64url({ alg: "ES256", kid: "key" })}.${base64url({ ...claims, exp })}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const issuerOf = ({ slug }: Clinic) => `https://idp.${slug}.example.com`;

/** Registers an identity provider. */
export async function addIssuer(clinic: Clinic): Promise<void> {
  const issuer = issuerOf(clinic);
  const jwks_url = `${issuer}/jwks`;
  clinic.world.receivers.set(jwks_url, publishedKeys);
  await clinic.platform("POST", `${clinic.own}/issuers`, {
    issuer: { issuer, audience: "visits", jwks_url },
  });
}

/** Exchanges a token of the identity provider for an authorization code. */
export function exchangeToken(clinic: Clinic, email: string): Promise<Outcome> {
  const token = tokenOf({ iss: issuerOf(clinic), aud: "visits", email }, clinic.world.schedule.now);
  return clinic.client("POST", "/auth/token_exchange", { token_exchange: { token } });
}
