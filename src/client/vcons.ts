import type { SignedVcon, Vcon } from "../../dist/client/external/types.gen.js";
import { decoded, opened, type PublishedKey, verifies } from "./access_log_chain.ts";

/** A signed vCon that was changed, or that the service did not sign. */
export class VconVerificationError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "VconVerificationError";
  }
}

/**
 * Checks the signature of a vCon. It needs no credentials, only the public keys.
 *
 * @param jws the response of `getCall` as `application/vcon+jws`
 * @param jwks the response of `/.well-known/jwks.json`
 * @throws VconVerificationError if none of the keys has signed it, or if it was changed
 */
export function verifyVcon(jws: SignedVcon, jwks: { keys: readonly PublishedKey[] }): Vcon {
  const keys = new Map(jwks.keys.flatMap(opened));
  const { payload = "", signatures = [] } = jws ?? {};
  const [{ protected: header = "", signature = "", header: { uuid } = {} } = {}, ...others] = signatures;
  const { alg, typ, kid } = decoded(header) ?? {};
  const key = keys.get(String(kid));
  if (
    others.length > 0 ||
    !key ||
    alg !== "EdDSA" ||
    typ !== "vcon+jws" ||
    !verifies(key, header, payload, signature)
  )
    throw new VconVerificationError(`The vCon was changed, or none of the keys has signed it: ${kid}`);
  const vcon = decoded(payload) as Vcon | undefined;
  if (!vcon || vcon.uuid !== uuid) throw new VconVerificationError("The signature is of another vCon");
  return vcon;
}
