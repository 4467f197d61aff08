import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { INVITE_RESEND_PAUSE } from "../../lifetimes.ts";
import { MAX_UNUSED_INVITES } from "../../limits.ts";
import { SECOND } from "../../units.ts";

export const inviteNotFound = () => notFound("Invite");

/** The faults of an email that cannot be invited, in a row of a bulk invite too. */
export const HAS_ACCOUNT = "has an account in the organization";

/** An invite that was not used. */
export interface PendingInvite {
  id: number;
  /** In ISO 8601; null for an active one. */
  expired_at: string | null;
}

export const hasPendingInvite = ({ id, expired_at }: PendingInvite) =>
  `has the pending invite ${id}${expired_at === null ? "" : `, which expired on ${expired_at}`}: ` +
  `send it again with POST /invites/${id}/resend, or delete it with DELETE /invites/${id} to make another one`;

export const inviteeHasAccount = () => unprocessable(`organization_invite.email: ${HAS_ACCOUNT}`);

export const inviteeHasPendingInvite = (pending: PendingInvite) =>
  unprocessable(`organization_invite.email: ${hasPendingInvite(pending)}`);

/** The fault of an organization, in a row of a bulk invite too. */
export const TOO_MANY_INVITES = `The organization has ${MAX_UNUSED_INVITES} unused invites, which is the most that it can have: delete some first, for example expired ones`;

export const tooManyInvites = () => unprocessable(TOO_MANY_INVITES);

export const usedInviteStays = () =>
  unprocessable("The invite was used, so it stays: to remove the user, end the membership");

export const usedInviteIsNotResent = () =>
  unprocessable(
    "The invite was used: the invitee can sign in, or get a new invite if the membership has ended",
  );

/** @param rest in milliseconds, until it can be sent again */
export const inviteSentJustNow = (rest: number) =>
  new ApiError(
    429,
    `The invite was created or sent again less than ${INVITE_RESEND_PAUSE / SECOND} seconds ago: wait for the mail, or try again later`,
    { headers: { "Retry-After": String(Math.ceil(Math.min(rest, INVITE_RESEND_PAUSE) / SECOND)) } },
  );

export const inviteAlreadyUsed = () =>
  unprocessable("The invite was used; sign in instead, or ask for a new one");

export const inviteExpired = () => unprocessable("The invite has expired; ask for a new one");
