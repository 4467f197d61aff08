import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { INVITE_RESEND_PAUSE } from "../../lifetimes.ts";
import { MAX_UNUSED_INVITES } from "../../limits.ts";
import { grouped, SECOND } from "../../units.ts";

export const inviteNotFound = () => notFound("Invite");

/** Also the error of a row in a bulk invite. */
export const HAS_ACCOUNT = "has an account in the organization";

export interface PendingInvite {
  id: number;
  /** When it expired, in ISO 8601; null for an active invite. */
  expired_at: string | null;
}

export const hasPendingInvite = ({ id, expired_at }: PendingInvite) =>
  `has the pending invite ${id}${expired_at === null ? "" : `, which expired on ${expired_at}`}: ` +
  `send it again with POST /invites/${id}/resend, or delete it with DELETE /invites/${id} to create another one`;

export const inviteeHasAccount = () =>
  unprocessable("account_exists", `organization_invite.email: ${HAS_ACCOUNT}`);

export const inviteeHasPendingInvite = (pending: PendingInvite) =>
  unprocessable("invite_pending", `organization_invite.email: ${hasPendingInvite(pending)}`);

/** Also the error of a row in a bulk invite. */
export const TOO_MANY_INVITES = `The organization has ${grouped(MAX_UNUSED_INVITES)} unused invites, which is the most that it can have: delete some first, for example expired ones`;

export const tooManyInvites = () => unprocessable("too_many_invites", TOO_MANY_INVITES);

export const usedInviteStays = () =>
  unprocessable("invite_used", "The invite was used, so it stays: to remove the user, end the membership");

export const usedInviteIsNotResent = () =>
  unprocessable(
    "invite_used",
    "The invite was used: the invitee can sign in, or get a new invite if the membership has ended",
  );

/** @param rest in milliseconds */
export const inviteSentJustNow = (rest: number) =>
  new ApiError(
    429,
    "invite_sent_recently",
    `The invite was created or sent again less than ${INVITE_RESEND_PAUSE / SECOND} seconds ago: wait for the mail, or try again later`,
    { headers: { "Retry-After": String(Math.ceil(Math.min(rest, INVITE_RESEND_PAUSE) / SECOND)) } },
  );

export const inviteAlreadyUsed = () =>
  unprocessable("invite_used", "The invite was used; sign in instead, or ask for a new one");

export const inviteeHasReturned = () =>
  unprocessable(
    "not_a_former_member",
    "The person whom this invite brings back is already a member again; sign in instead, or ask for a new invite",
  );

export const inviteExpired = () =>
  unprocessable("invite_expired", "The invite has expired; ask for a new one");
