import { ApiError } from "../../http/errors.ts";
import type { RefusalReason } from "../../http/log_names.ts";
import { PROVIDER_RETRY_AFTER } from "../../lifetimes.ts";
import type { KeysFault } from "../issuers/issuers.keys.ts";

/** Why a token is refused. */
export type TokenFault = RefusalReason<"token">;

/** The reason is for the log; callers always get the same text. */
export const invalidToken = (reason: TokenFault) => new ApiError(401, "Invalid token", { reason });

export const inviteNotAccepted = () =>
  new ApiError(401, "Please accept your invite", { reason: "invite_pending" });

export const providerUnavailable = (reason: KeysFault) =>
  new ApiError(503, "Identity provider unavailable", {
    headers: { "Retry-After": String(PROVIDER_RETRY_AFTER) },
    reason,
  });
