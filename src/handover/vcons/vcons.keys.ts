import { FlattenedSign, importJWK } from "jose";
import { ALGORITHM, publish, type SigningKey } from "../../audit/access_log_seals/access_log_seals.keys.ts";
import { toTimestamp } from "../../http/wire.ts";
import type { Vcon } from "./vcons.ts";

/** The JWS of a vCon in General JSON Serialization. Its `updated_at` is the time of the signature, as the draft wants. */
export async function signVcon({ kty, crv, x, d }: SigningKey, vcon: Vcon, now: number) {
  const { kid } = await publish({ kty, crv, x });
  const content = new TextEncoder().encode(JSON.stringify({ ...vcon, updated_at: toTimestamp(now) }));
  const { payload, ...signature } = await new FlattenedSign(content)
    // The `typ` keeps anything else that is signed with the key from passing for a vCon.
    .setProtectedHeader({ alg: ALGORITHM, typ: "vcon+jws", kid })
    .setUnprotectedHeader({ uuid: vcon.uuid })
    .sign(await importJWK({ kty, crv, x, d }, ALGORITHM));
  return { payload, signatures: [signature] };
}
