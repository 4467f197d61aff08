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
} from "./invites.refusals.ts";
import type { InviteInput } from "./invites.schemas.ts";

/** Until when an invite that is made now can be accepted. */
export const inviteExpiry = (
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number => now + INVITE_VALIDITY_DAYS * DAY;

/** What is known when an invite is created. */
interface KnownInvitee {
  organization_id: number;
  settings: Pick<Settings, "INVITE_VALIDITY_DAYS">;
  /** The account of the email in the organization. */
  account: { id: number } | undefined;
  /** The invite of the email that was not used, expired or not. */
  pending: { expires_at: number } | undefined;
}

/** @throws ApiError 422 if the email has an account in the organization, or a pending invite */
export function newInvite(
  { organization_id, settings, account, pending }: KnownInvitee,
  { email, display_name, role_names }: InviteInput,
  now: number,
): typeof invites.$inferInsert {
  if (account) throw inviteeHasAccount();
  if (pending)
    throw pending.expires_at > now
      ? inviteeHasActiveInvite()
      : inviteeHasExpiredInvite(toTimestamp(pending.expires_at));
  return {
    organization_id,
    email,
    display_name,
    roles: role_names,
    expires_at: inviteExpiry(settings, now),
    created_at: now,
    updated_at: now,
  };
}

type InviteRow = typeof invites.$inferSelect;

/** @throws ApiError 422 if the invite was used or has expired */
export function useInvite(invite: InviteRow, now: number): InviteRow {
  if (invite.used_at !== null) throw inviteAlreadyUsed();
  if (invite.expires_at <= now) throw inviteExpired();
  return { ...invite, used_at: now, updated_at: now };
}
