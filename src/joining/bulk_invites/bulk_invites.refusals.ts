import { ApiError, notFound } from "../../http/errors.ts";
import { BULK_ROWS_PERIOD, BULK_ROWS_RETRY_AFTER } from "../../lifetimes.ts";
import { MAX_BULK_INVITES, MAX_BULK_ROWS } from "../../limits.ts";
import { TOO_MANY_MAILS, TOO_MANY_MAILS_TO_ADDRESS } from "../../organization/usage/usage.refusals.ts";
import { grouped, HOUR } from "../../units.ts";
import * as refusals from "../invites/invites.refusals.ts";

export const bulkInviteNotFound = () => notFound("Bulk invite");

export const TOO_MANY_ROWS = `must hold at most ${grouped(MAX_BULK_INVITES)} invites`;

export const NO_RETURN_IN_BULK =
  "cannot be in a bulk invite; to bring a former member back, use POST /invites";

export const tooManyBulkRows = () =>
  new ApiError(
    429,
    "bulk_row_limit",
    `An organization can send at most ${grouped(MAX_BULK_ROWS)} rows of bulk invites in ${BULK_ROWS_PERIOD / HOUR} hours, and this request exceeds that: send fewer, or try again in an hour`,
    { headers: { "Retry-After": String(BULK_ROWS_RETRY_AFTER) } },
  );

export const ROW_FAULTS = {
  repeated: "The email is in an earlier row of the request",
  account: `The email ${refusals.HAS_ACCOUNT}`,
  membershipEnded: "The membership of this email ended after the request",
  pendingInvite: (pending: refusals.PendingInvite) => `The email ${refusals.hasPendingInvite(pending)}`,
  tooManyInvites: refusals.TOO_MANY_INVITES,
  tooManyMails: TOO_MANY_MAILS,
  tooManyMailsToAddress: TOO_MANY_MAILS_TO_ADDRESS,
  creatorRemoved: "The membership of the person who sent this invite has ended",
  creatorBelow: "The person who sent this invite may no longer give these roles",
  /** For a fault of the service, not of the row. */
  notMade: "The invite could not be created; please invite this person again",
};
