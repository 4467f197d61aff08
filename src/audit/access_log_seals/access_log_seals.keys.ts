import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import type { PublicKey, Settings } from "../../settings.ts";

/** JOSE's name for Ed25519. */
const ALGORITHM = "EdDSA";

export type SigningKey = NonNullable<Settings["AUDIT_SIGNING_KEY"]>;

/** A public key in the JWK Set. Its id is its thumbprint (RFC 7638), which anybody can compute from the key. */
const publish = async ({ kty, crv, x }: PublicKey) => ({
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

/** @param typ keeps what is signed for one purpose from passing for something else */
export async function signJws({ kty, crv, x, d }: SigningKey, typ: string, content: object): Promise<string> {
  const { kid } = await publish({ kty, crv, x });
  return new CompactSign(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader({ alg: ALGORITHM, typ, kid })
    .sign(await importJWK({ kty, crv, x, d }, ALGORITHM));
}

/** @throws Error if the public key does not match the private key: a seal cannot be replaced, so it must be verifiable */
export async function signSeal(key: SigningKey, seal: object): Promise<string> {
  const jws = await signJws(key, "access-log-seal", seal);
  const { kty, crv, x } = key;
  await compactVerify(jws, await importJWK({ kty, crv, x }, ALGORITHM));
  return jws;
}
