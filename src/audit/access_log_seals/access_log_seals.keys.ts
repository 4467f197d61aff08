import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import type { PublicKey, Settings } from "../../settings.ts";

/** JOSE's name for Ed25519. */
const ALGORITHM = "EdDSA";

/** The `typ` in a seal's header, so that nothing else signed with the key can pass for a seal. */
const TYPE = "access-log-seal";

type SigningKey = NonNullable<Settings["AUDIT_SIGNING_KEY"]>;

/** A public key in the JWK Set. Its id is its thumbprint (RFC 7638), which anybody can compute from the key. */
interface PublishedKey extends PublicKey {
  kid: string;
  alg: string;
  use: "sig";
}

async function publish({ kty, crv, x }: PublicKey): Promise<PublishedKey> {
  return { kty, crv, x, kid: await calculateJwkThumbprint({ kty, crv, x }), alg: ALGORITHM, use: "sig" };
}

/** The current signing key, if there is one, and all former keys, without duplicates. */
export async function publishedKeys(settings: Settings): Promise<PublishedKey[]> {
  const { AUDIT_SIGNING_KEY: current, AUDIT_PUBLIC_KEYS: former } = settings;
  const keys = await Promise.all([...(current ? [current] : []), ...former].map(publish));
  return [...new Map(keys.map((key) => [key.kid, key])).values()];
}

/**
 * Signs a seal as a compact JWS.
 *
 * @throws Error if the public key does not match the private key: a seal cannot be replaced, so it must be verifiable
 */
export async function signSeal({ kty, crv, x, d }: SigningKey, seal: object): Promise<string> {
  const { kid } = await publish({ kty, crv, x });
  const jws = await new CompactSign(new TextEncoder().encode(JSON.stringify(seal)))
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid })
    .sign(await importJWK({ kty, crv, x, d }, ALGORITHM));
  await compactVerify(jws, await importJWK({ kty, crv, x }, ALGORITHM));
  return jws;
}
