import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import type { PublicKey, Settings } from "../../settings.ts";

/** Signs with Ed25519. */
const ALGORITHM = "EdDSA";

/** What a seal's header says that it is, so that nothing else that the key may sign can pass for one. */
const TYPE = "access-log-seal";

type SigningKey = NonNullable<Settings["AUDIT_SIGNING_KEY"]>;

/** A public key as others get it: its id is its thumbprint (RFC 7638), which the key itself proves. */
interface PublishedKey extends PublicKey {
  kid: string;
  alg: string;
  use: "sig";
}

async function publish({ kty, crv, x }: PublicKey): Promise<PublishedKey> {
  return { kty, crv, x, kid: await calculateJwkThumbprint({ kty, crv, x }), alg: ALGORITHM, use: "sig" };
}

/** The key that signs, if there is one, and all former ones, each once. */
export async function publishedKeys(settings: Settings): Promise<PublishedKey[]> {
  const { AUDIT_SIGNING_KEY: current, AUDIT_PUBLIC_KEYS: former } = settings;
  const keys = await Promise.all([...(current ? [current] : []), ...former].map(publish));
  return [...new Map(keys.map((key) => [key.kid, key])).values()];
}

/**
 * Makes the compact JWS of a seal.
 *
 * @throws Error if the public part of the key does not fit the private one: a seal is never made again, so there must be none
 *   that nobody can verify
 */
export async function signSeal({ kty, crv, x, d }: SigningKey, seal: object): Promise<string> {
  const { kid } = await publish({ kty, crv, x });
  const jws = await new CompactSign(new TextEncoder().encode(JSON.stringify(seal)))
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .sign(await importJWK({ kty, crv, x, d }, ALGORITHM));
  await compactVerify(jws, await importJWK({ kty, crv, x }, ALGORITHM));
  return jws;
}
