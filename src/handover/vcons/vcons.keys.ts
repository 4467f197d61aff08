import { type SigningKey, signJws } from "../../audit/access_log_seals/access_log_seals.keys.ts";
import type { Context } from "../../context.ts";
import { ApiError } from "../../http/errors.ts";
import { toTimestamp } from "../../http/wire.ts";

/** The JWS of a vCon in General JSON Serialization. Its `updated_at` is the time of the signature, as the draft wants. */
export async function signVcon(key: SigningKey, vcon: { uuid: string }, now: number) {
  const jws = await signJws(key, "vcon+jws", { ...vcon, updated_at: toTimestamp(now) });
  const [header, payload, signature] = jws.split(".");
  return { payload, signatures: [{ protected: header, header: { uuid: vcon.uuid }, signature }] };
}

/** Signs with the key that seals the access log. */
export function requireSigner({ settings: { AUDIT_SIGNING_KEY: key }, now }: Context) {
  if (!key) throw cannotSign();
  return (vcon: { uuid: string }) => signVcon(key, vcon, now);
}

export const cannotSign = () =>
  new ApiError(
    406,
    "not_acceptable",
    "This service has no signing key, so it cannot sign a vCon: ask for application/vcon+json",
  );
