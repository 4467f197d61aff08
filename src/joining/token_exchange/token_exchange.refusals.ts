import { ApiError } from "../../http/errors.ts";
import type { RefusalReason } from "../../http/log_names.ts";
import { PROVIDER_RETRY_AFTER } from "../../lifetimes.ts";
import type { KeysFault } from "../../organization/issuers/issuers.keys.ts";

export type TokenFault = RefusalReason<"token">;

/** The reason is only logged: callers always get the same text. */
export const invalidToken = (reason: TokenFault) =>
  new ApiError(401, "invalid_token", "Invalid token", { reason });

export const inviteNotAccepted = () =>
  new ApiError(401, "invite_pending", "Please accept your invite", { reason: "invite_pending" });

export const providerUnavailable = (reason: KeysFault) =>
  new ApiError(503, "identity_provider_unavailable", "Identity provider unavailable", {
    headers: { "Retry-After": String(PROVIDER_RETRY_AFTER) },
    reason,
  });
