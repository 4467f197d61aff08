import { ApiError } from "../../http/errors.ts";
import type { RefusalReason } from "../../http/log_names.ts";
import { PROVIDER_RETRY_AFTER } from "../../lifetimes.ts";
import type { KeysFault } from "../../organization/issuers/issuers.keys.ts";

export type TokenFault = RefusalReason<"token">;

export const CHECK_REASONS = [
  ...["malformed", "issuer_unknown", "audience_wrong", "expired", "not_yet_valid"],
  ...["keys_unavailable", "signature_invalid", "email_missing", "email_unverified"],
  ...["invite_pending", "membership_ended", "user_unknown"],
] as const;

type CheckReason = (typeof CHECK_REASONS)[number];

/** Reasons that have another name in the log. */
const RENAMED: { [Reason in RefusalReason]?: CheckReason } = {
  issuer_missing: "malformed",
  claim_missing: "malformed",
  claim_malformed: "malformed",
  key_unknown: "signature_invalid",
  algorithm_not_allowed: "signature_invalid",
  key_unusable: "keys_unavailable",
  email_not_verified: "email_unverified",
};

/** @throws an error that does not refuse a token */
export function checkReasonOf(error: unknown): CheckReason {
  if (!(error instanceof ApiError && error.reason)) throw error;
  if (error.status === 503) return "keys_unavailable";
  return RENAMED[error.reason] ?? (error.reason as CheckReason);
}

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
