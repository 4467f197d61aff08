import type { SignedVcon, Vcon } from "../../dist/client/external/types.gen.js";

/** A signed vCon that was changed, or that the service did not sign. */
export class VconVerificationError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "VconVerificationError";
  }
}

/** A key from `/.well-known/jwks.json` (RFC 8037). */
export interface VconKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/**
 * Checks the signature of a vCon. It needs no credentials, only the public keys.
 *
 * @param jws the response of `getCall` as `application/vcon+jws`
 * @param jwks the response of `/.well-known/jwks.json`
 * @throws VconVerificationError if none of the keys has signed it, or if it was changed
 */
export async function verifyVcon(jws: SignedVcon, jwks: { keys: readonly VconKey[] }): Promise<Vcon> {
  const { payload = "", signatures = [] } = jws ?? {};
  const [{ protected: header = "", signature = "", header: { uuid } = {} } = {}, ...others] = signatures;
  const { alg, typ, kid } = decoded(header) ?? {};
  const key = jwks.keys.find((each) => each.kid === kid);
  const isSigned = key && alg === "EdDSA" && typ === "vcon+jws" && others.length === 0;
  if (!isSigned || !(await verifies(key, `${header}.${payload}`, signature)))
    throw new VconVerificationError(`The vCon was changed, or none of the keys has signed it: ${kid}`);
  const vcon = decoded(payload) as Vcon | undefined;
  if (!vcon || vcon.uuid !== uuid) throw new VconVerificationError("The signature is of another vCon");
  return vcon;
}

async function verifies({ kty, crv, x }: VconKey, signed: string, signature: string): Promise<boolean> {
  const bytes = bytesOf(signature);
  const algorithm = { name: "Ed25519" };
  const key = await crypto.subtle
    .importKey("jwk", { kty, crv, x }, algorithm, false, ["verify"])
    .catch(() => undefined);
  return (
    bytes !== undefined &&
    key !== undefined &&
    crypto.subtle.verify(algorithm, key, bytes, new TextEncoder().encode(signed))
  );
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(bytesOf(part)));
  } catch {
    return undefined;
  }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
