import type { Role } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import type { invites } from "../../database/schema.ts";
import { toTimestamp } from "../../http/wire.ts";
import { INVITE_RESEND_PAUSE } from "../../lifetimes.ts";
import type { Mailer } from "../../mail/mail.ts";
import type { Settings } from "../../settings.ts";
import { DAY } from "../../units.ts";
import { requireAssignable } from "../roles/roles.policy.ts";
import {
  inviteAlreadyUsed,
  inviteExpired,
  inviteeHasAccount,
  inviteeHasPendingInvite,
  inviteSentJustNow,
  type PendingInvite,
  tooManyInvites,
  usedInviteIsNotResent,
} from "./invites.refusals.ts";
import type { InviteInput } from "./invites.schemas.ts";
import type { resentColumns } from "./invites.sql.ts";

/** Until when an invite that is made now can be accepted. */
const inviteExpiry = (
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number => now + INVITE_VALIDITY_DAYS * DAY;

/** What is known of an email that is to be invited. */
export interface KnownInvitee {
  /** Whether the email has an account in the organization. */
  hasAccount: boolean;
  /** The invite of the email that was not used, expired or not; null without one. */
  pending: { id: number; expires_at: number } | null;
}

/** Who invites. */
export interface Inviter {
  organization_id: number;
  user_id: number;
  settings: Pick<Settings, "INVITE_VALIDITY_DAYS">;
  /** Null where mail is off. */
  mailer: Mailer | null;
}

/** Why an email cannot be invited: for the first of these that is true. */
type InviteeFault = { reason: "account" } | ({ reason: "pendingInvite" } & PendingInvite);

/** Why the email cannot be invited now, or undefined if it can. */
export function inviteeFault({ hasAccount, pending }: KnownInvitee, now: number): InviteeFault | undefined {
  if (hasAccount) return { reason: "account" };
  if (!pending) return undefined;
  const { id, expires_at } = pending;
  return { reason: "pendingInvite", id, expired_at: expires_at > now ? null : toTimestamp(expires_at) };
}

/** @throws ApiError 422 if the email cannot be invited, or the organization has all the invites that it can have */
export function newInvite(
  { isFull, ...known }: Inviter & KnownInvitee & { isFull: boolean },
  input: InviteInput,
  now: number,
): typeof invites.$inferInsert {
  const fault = inviteeFault(known, now);
  if (fault?.reason === "account") throw inviteeHasAccount();
  if (fault) throw inviteeHasPendingInvite(fault);
  if (isFull) throw tooManyInvites();
  return inviteRow(known, input, now);
}

/** An invite as it is stored. */
export const inviteRow = (
  { organization_id, user_id, settings, mailer }: Inviter,
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
  ...newMail(mailer, now),
});

/** The mail that is due now, with what was known of earlier ones forgotten. */
const newMail = (mailer: Mailer | null, now: number) => ({
  mail_status: mailer ? ("queued" as const) : ("off" as const),
  next_mail_at: mailer ? now : null,
  mail_attempts: 0,
  mail_leases: 0,
});

type InviteRow = typeof invites.$inferSelect;

/** @throws ApiError 422 if the invite was used or has expired */
export function useInvite(invite: InviteRow, now: number): InviteRow {
  if (invite.used_at !== null) throw inviteAlreadyUsed();
  if (invite.expires_at <= now) throw inviteExpired();
  const { mail_status, mailed_at } = invite;
  // Nobody needs the mail any more. One that was sent for an earlier link was sent.
  const status = mailed_at === null ? "off" : "sent";
  return {
    ...invite,
    used_at: now,
    updated_at: now,
    next_mail_at: null,
    mail_status: mail_status === "queued" ? status : mail_status,
  };
}

/** An invite as far as sending it again rests on it, or changes it. */
type InviteToResend = Row<typeof resentColumns>;

/**
 * The invite with a new link and a new expiry, also where it had expired.
 *
 * @throws ApiError 422 if it was used, or gives roles above those of the caller; 429 if it was sent just before
 */
export function renewInvite(
  invite: InviteToResend,
  { roles, settings, mailer }: { roles: Role[] } & Pick<Inviter, "settings" | "mailer">,
  now: number,
): InviteToResend {
  if (invite.used_at !== null) throw usedInviteIsNotResent();
  requireAssignable(roles, invite.roles, "roles");
  const sentBefore = now - linkMadeAt(invite);
  if (sentBefore < INVITE_RESEND_PAUSE) throw inviteSentJustNow(INVITE_RESEND_PAUSE - sentBefore);
  return {
    ...invite,
    expires_at: inviteExpiry(settings, now),
    updated_at: now,
    resent_at: now,
    ...newMail(mailer, now),
  };
}

/** When the link in the mail was made: an invite that is sent again has a new one. */
export const linkMadeAt = ({ resent_at, created_at }: Pick<InviteRow, "resent_at" | "created_at">): number =>
  resent_at ?? created_at;
