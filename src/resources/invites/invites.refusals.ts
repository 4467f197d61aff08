import { notFound, unprocessable } from "../../http/errors.ts";

export const inviteNotFound = () => notFound("Invite");

/** The faults of an email that cannot be invited, in a row of a bulk invite too. */
export const HAS_ACCOUNT = "has an account in the organization";

/** @param expired_at in ISO 8601 */
export const hasExpiredInvite = (expired_at: string) =>
  `has an invite that expired on ${expired_at}; to send another one, delete it first`;

export const inviteeHasAccount = () => unprocessable(`organization_invite.email: ${HAS_ACCOUNT}`);

export const inviteeHasActiveInvite = () =>
  unprocessable("organization_invite.email: has a pending invite; to send another one, delete it first");

export const inviteeHasExpiredInvite = (expired_at: string) =>
  unprocessable(`organization_invite.email: ${hasExpiredInvite(expired_at)}`);

export const usedInviteStays = () => unprocessable("The invite was used: it cannot be removed");

export const inviteAlreadyUsed = () =>
  unprocessable("The invite was used; sign in instead, or ask for a new one");

export const inviteExpired = () => unprocessable("The invite has expired; ask for a new one");
