import { FlattenedSign, importJWK } from "jose";
import { ALGORITHM, publish, type SigningKey } from "../../audit/access_log_seals/access_log_seals.keys.ts";
import type { Context } from "../../context.ts";
import { ApiError } from "../../http/errors.ts";
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

/** The key that seals the access log. */
export function requireSigningKey({ settings }: Context): SigningKey {
  if (!settings.AUDIT_SIGNING_KEY) throw cannotSign();
  return settings.AUDIT_SIGNING_KEY;
}

export const cannotSign = () =>
  new ApiError(
    406,
    "not_acceptable",
    "This service has no signing key, so it cannot sign a vCon: ask for application/vcon+json",
  );
