import { notFound } from "../../http/errors.ts";
import { MAX_BULK_INVITES } from "../../limits.ts";
import { HAS_ACCOUNT, hasExpiredInvite } from "../invites/invites.refusals.ts";

export const bulkInviteNotFound = () => notFound("Bulk invite");

/** The fault of a request with too many rows. */
export const TOO_MANY_ROWS = `must hold at most ${MAX_BULK_INVITES} invites`;

/** Why a row failed in the background. */
export const ROW_FAULTS = {
  repeated: "The email is in an earlier row of the request",
  account: `The email ${HAS_ACCOUNT}`,
  membershipEnded: "The membership of this email ended after the request",
  activeInvite: "The email has a pending invite",
  /** @param expired_at in ISO 8601 */
  expiredInvite: (expired_at: string) => `The email ${hasExpiredInvite(expired_at)}`,
  /** For a reason that is not its own. */
  notMade: "The invite could not be made; please invite this person again",
};
