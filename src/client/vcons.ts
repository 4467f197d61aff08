import type { SignedVcon, Vcon } from "../../dist/client/external/types.gen.js";
import type { PublishedKey } from "./access_log_types.ts";
import { fromBase64 } from "./webhooks.ts";

/** A signed vCon that was changed, or that the service did not sign. */
export class VconVerificationError extends Error {
  override readonly name: string = "VconVerificationError";
}

/**
 * Checks the signature of a vCon. It needs no credentials, only the public keys.
 *
 * @param jws the response of `getCall` as `application/vcon+jws`
 * @param jwks the response of `/.well-known/jwks.json`
 * @throws VconVerificationError if none of the keys has signed it, or if it was changed
 */
export async function verifyVcon(jws: SignedVcon, jwks: { keys: readonly PublishedKey[] }): Promise<Vcon> {
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

async function verifies({ kty, crv, x }: PublishedKey, signed: string, signature: string): Promise<boolean> {
  const algorithm = { name: "Ed25519" };
  try {
    const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, algorithm, false, ["verify"]);
    return await crypto.subtle.verify(algorithm, key, bytesOf(signature), new TextEncoder().encode(signed));
  } catch {
    return false;
  }
}

/** A part of a JWS; undefined if it is not a JSON object. */
export function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytesOf(part)));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const bytesOf = (base64url: string) =>
  fromBase64(base64url.replaceAll("-", "+").replaceAll("_", "/")) ?? new Uint8Array();
