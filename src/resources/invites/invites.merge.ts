import type { invites } from "../../database/schema.ts";
import { toTimestamp } from "../../http/wire.ts";
import { DAY } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import {
  inviteAlreadyUsed,
  inviteExpired,
  inviteeHasAccount,
  inviteeHasActiveInvite,
  inviteeHasExpiredInvite,
  tooManyInvites,
} from "./invites.refusals.ts";
import type { InviteInput } from "./invites.schemas.ts";

/** Until when an invite that is made now can be accepted. */
const inviteExpiry = (
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number => now + INVITE_VALIDITY_DAYS * DAY;

/** What is known of an email that is to be invited. */
export interface KnownInvitee {
  /** Whether the email has an account in the organization. */
  hasAccount: boolean;
  /** Until when the email has an invite that was not used, expired or not; null without one. */
  pending_until: number | null;
}

/** Who invites. */
export interface Inviter {
  organization_id: number;
  user_id: number;
  settings: Pick<Settings, "INVITE_VALIDITY_DAYS">;
}

/** Why an email cannot be invited: for the first of these that is true. */
type InviteeFault =
  | { reason: "account" }
  | { reason: "activeInvite" }
  /** Since when, in ISO 8601. */
  | { reason: "expiredInvite"; expired_at: string };

/** Why the email cannot be invited now, or undefined if it can. */
export function inviteeFault(
  { hasAccount, pending_until }: KnownInvitee,
  now: number,
): InviteeFault | undefined {
  if (hasAccount) return { reason: "account" };
  if (pending_until === null) return undefined;
  return pending_until > now
    ? { reason: "activeInvite" }
    : { reason: "expiredInvite", expired_at: toTimestamp(pending_until) };
}

/** @throws ApiError 422 if the email cannot be invited, or the organization has all the invites that it can have */
export function newInvite(
  { isFull, ...known }: Inviter & KnownInvitee & { isFull: boolean },
  input: InviteInput,
  now: number,
): typeof invites.$inferInsert {
  const fault = inviteeFault(known, now);
  if (fault?.reason === "account") throw inviteeHasAccount();
  if (fault?.reason === "activeInvite") throw inviteeHasActiveInvite();
  if (fault) throw inviteeHasExpiredInvite(fault.expired_at);
  if (isFull) throw tooManyInvites();
  return inviteRow(known, input, now);
}

/** An invite as it is stored. */
export const inviteRow = (
  { organization_id, user_id, settings }: Inviter,
  { email, display_name, role_names }: InviteInput,
  now: number,
) => ({
  organization_id,
  email,
  display_name,
  roles: role_names,
  expires_at: inviteExpiry(settings, now),
  created_at: now,
  updated_at: now,
  created_by_user_id: user_id,
});

type InviteRow = typeof invites.$inferSelect;

/** @throws ApiError 422 if the invite was used or has expired */
export function useInvite(invite: InviteRow, now: number): InviteRow {
  if (invite.used_at !== null) throw inviteAlreadyUsed();
  if (invite.expires_at <= now) throw inviteExpired();
  return { ...invite, used_at: now, updated_at: now };
}
