import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import type { PublicKey, Settings } from "../../settings.ts";

/** JOSE's name for Ed25519. */
export const ALGORITHM = "EdDSA";

export type SigningKey = NonNullable<Settings["AUDIT_SIGNING_KEY"]>;

/** A public key in the JWK Set. Its id is its thumbprint (RFC 7638), which anybody can compute from the key. */
export const publish = async ({ kty, crv, x }: PublicKey) => ({
  kty,
  crv,
  x,
  kid: await calculateJwkThumbprint({ kty, crv, x }),
  alg: ALGORITHM,
  use: "sig",
});

export async function publishedKeys(settings: Settings) {
  const { AUDIT_SIGNING_KEY: current, AUDIT_PUBLIC_KEYS: former } = settings;
  const keys = await Promise.all([...(current ? [current] : []), ...former].map(publish));
  return [...new Map(keys.map((key) => [key.kid, key])).values()];
}

/** @throws Error if the public key does not match the private key: a seal cannot be replaced, so it must be verifiable */
export async function signSeal({ kty, crv, x, d }: SigningKey, seal: object): Promise<string> {
  const { kid } = await publish({ kty, crv, x });
  const jws = await new CompactSign(new TextEncoder().encode(JSON.stringify(seal)))
    // The `typ` keeps anything else that is signed with the key from passing for a seal.
    .setProtectedHeader({ alg: ALGORITHM, typ: "access-log-seal", kid })
    .sign(await importJWK({ kty, crv, x, d }, ALGORITHM));
  await compactVerify(jws, await importJWK({ kty, crv, x }, ALGORITHM));
  return jws;
}
