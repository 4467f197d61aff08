import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { INVITE_RESEND_PAUSE } from "../../lifetimes.ts";
import { MAX_UNUSED_INVITES } from "../../limits.ts";
import { SECOND } from "../../units.ts";

export const inviteNotFound = () => notFound("Invite");

/** The faults of an email that cannot be invited, in a row of a bulk invite too. */
export const HAS_ACCOUNT = "has an account in the organization";

const INSTEAD = "send it again with POST /invites/{id}/resend, or delete it to make another one";

export const HAS_ACTIVE_INVITE = `has a pending invite: ${INSTEAD}`;

/** @param expired_at in ISO 8601 */
export const hasExpiredInvite = (expired_at: string) =>
  `has an invite that expired on ${expired_at}: ${INSTEAD}`;

export const inviteeHasAccount = () => unprocessable(`organization_invite.email: ${HAS_ACCOUNT}`);

export const inviteeHasActiveInvite = () => unprocessable(`organization_invite.email: ${HAS_ACTIVE_INVITE}`);

export const inviteeHasExpiredInvite = (expired_at: string) =>
  unprocessable(`organization_invite.email: ${hasExpiredInvite(expired_at)}`);

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
