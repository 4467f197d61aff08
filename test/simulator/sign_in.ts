import { generateKeyPairSync, sign } from "node:crypto";
import { SECOND } from "../../src/units.ts";
import { base64url } from "../project/support/worker_in_node.ts";
import type { Clinic, Outcome } from "./clinic.ts";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });

const issuerOf = ({ slug }: Clinic) => `https://idp.${slug}.example.com`;

/** Registers an identity provider, which publishes its keys. */
export async function addIssuer(clinic: Clinic): Promise<void> {
  const issuer = issuerOf(clinic);
  const jwks_url = `${issuer}/jwks`;
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "key", alg: "ES256" }];
  clinic.world.receivers.set(jwks_url, () => Response.json({ keys }));
  await clinic.platform("POST", `${clinic.own}/issuers`, {
    issuer: { issuer, audience: "visits", jwks_url },
  });
}

/** Exchanges a token of the identity provider for an authorization code. */
export function exchangeToken(clinic: Clinic, email: string): Promise<Outcome> {
  const exp = Math.floor(clinic.world.schedule.now / SECOND) + 3600;
  const claims = { iss: issuerOf(clinic), aud: "visits", email, exp };
  const signed = `${base64url({ alg: "ES256", kid: "key" })}.${base64url(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  const token = `${signed}.${signature.toString("base64url")}`;
  return clinic.client("POST", "/auth/token_exchange", { token_exchange: { token } });
}
