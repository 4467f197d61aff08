import type { NewRow } from "../../database/insert.ts";
import { toTimestamp } from "../../http/wire.ts";
import { INVITE_RESEND_PAUSE } from "../../lifetimes.ts";
import type { Mailer, MailOutcome } from "../../mail/mail.ts";
import type { Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { requireAssignable } from "../../organization/roles/roles.policy.ts";
import { growingPause } from "../../pauses.ts";
import type { Settings } from "../../settings.ts";
import { MAIL_RETRIES } from "../../tuning.ts";
import { DAY } from "../../units.ts";
import { hasEnded, type Member } from "../organization_users/organization_users.merge.ts";
import { notFormerMember } from "../organization_users/organization_users.refusals.ts";
import * as refusals from "./invites.refusals.ts";
import type { NewInviteInput } from "./invites.schemas.ts";
import type { invites } from "./invites.table.ts";

const inviteExpiry = (
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number => now + INVITE_VALIDITY_DAYS * DAY;

interface KnownInvitee {
  hasAccount: boolean;
  pending: { id: number; expires_at: number } | null;
}

export interface Inviter {
  organization_id: number;
  user_id: number;
  settings: Pick<Settings, "INVITE_VALIDITY_DAYS">;
  mailer: Mailer | null;
}

type InviteeFault = { reason: "account" } | ({ reason: "pendingInvite" } & refusals.PendingInvite);

/** The first reason that applies. */
export function inviteeFault({ hasAccount, pending }: KnownInvitee, now: number): InviteeFault | undefined {
  if (hasAccount) return { reason: "account" };
  if (!pending) return undefined;
  const { id, expires_at } = pending;
  return { reason: "pendingInvite", id, expired_at: expires_at > now ? null : toTimestamp(expires_at) };
}

/** `mayReturn`: whether `returning_user_id` is a former member whom the inviter may bring back. */
export function newInvite(
  { isFull, mayReturn, ...known }: Inviter & KnownInvitee & { isFull: boolean; mayReturn: boolean },
  input: NewInviteInput,
  now: number,
): NewRow<typeof invites> {
  const fault = inviteeFault(known, now);
  if (fault?.reason === "account") throw refusals.inviteeHasAccount();
  if (fault) throw refusals.inviteeHasPendingInvite(fault);
  if (input.returning_user_id !== undefined && !mayReturn) throw notFormerMember("organization_invite");
  if (isFull) throw refusals.tooManyInvites();
  const { email, display_name, role_names: roles, returning_user_id = null } = input;
  return inviteRow(known, { email, display_name, roles, returning_user_id }, now);
}

const unusedInvite = ({ organization_id, user_id, settings, mailer }: Inviter, now: number) => ({
  organization_id,
  expires_at: inviteExpiry(settings, now),
  used_at: null,
  created_at: now,
  updated_at: now,
  created_by_user_id: user_id,
  resent_at: null,
  mailed_at: null,
  ...newMail(mailer, now),
});

type Invitee = Omit<NewRow<typeof invites>, keyof ReturnType<typeof unusedInvite>>;

export const inviteRow = (inviter: Inviter, invitee: Invitee, now: number): NewRow<typeof invites> => ({
  ...invitee,
  ...unusedInvite(inviter, now),
});

const newMail = (mailer: Mailer | null, now: number) => ({
  mail_status: mailer ? ("queued" as const) : ("off" as const),
  next_mail_at: mailer ? now : null,
  mail_attempts: 0,
  mail_leases: 0,
});

type InviteRow = typeof invites.$inferSelect;

/**
 * @param member the user that the invitee becomes, unless they become a new one
 * @throws ApiError 422
 */
export function useInvite(invite: InviteRow, member: Member | undefined, now: number): InviteRow {
  if (invite.used_at !== null) throw refusals.inviteAlreadyUsed();
  if (invite.expires_at <= now) throw refusals.inviteExpired();
  if (invite.returning_user_id !== null && member && !hasEnded(member)) throw refusals.inviteeHasReturned();
  const { mail_status, mailed_at } = invite;
  // The invitee no longer needs the mail. If a mail with an earlier link was sent, the status says so.
  const status = mailed_at === null ? "off" : "sent";
  return {
    ...invite,
    used_at: now,
    updated_at: now,
    next_mail_at: null,
    mail_status: mail_status === "queued" ? status : mail_status,
  };
}

/** @throws ApiError 422 if the invite was used or its roles cannot be assigned, 429 if it was sent too recently */
export function renewInvite(
  invite: InviteRow,
  { own, settings, mailer }: { own: Rights } & Pick<Inviter, "settings" | "mailer">,
  now: number,
): InviteRow {
  if (invite.used_at !== null) throw refusals.usedInviteIsNotResent();
  requireAssignable(own, invite.roles, "roles");
  const sentBefore = now - linkMadeAt(invite);
  if (sentBefore < INVITE_RESEND_PAUSE) throw refusals.inviteSentJustNow(INVITE_RESEND_PAUSE - sentBefore);
  return {
    ...invite,
    expires_at: inviteExpiry(settings, now),
    updated_at: now,
    resent_at: now,
    ...newMail(mailer, now),
  };
}

export const linkMadeAt = ({ resent_at, created_at }: Pick<InviteRow, "resent_at" | "created_at">): number =>
  resent_at ?? created_at;

export function afterFailedMail(
  { expires_at, mail_attempts: before }: Pick<InviteRow, "expires_at" | "mail_attempts">,
  { state }: Extract<MailOutcome, { state: "deferred" | "failed" }>,
  now: number,
  chance = Math.random(),
): Pick<InviteRow, "mail_status" | "next_mail_at" | "mail_attempts"> {
  const mail_attempts = before + 1;
  const retryAt = now + Math.round(growingPause(mail_attempts, MAIL_RETRIES, chance));
  return state === "failed" || retryAt >= expires_at
    ? { mail_status: "failed", next_mail_at: null, mail_attempts }
    : { mail_status: "queued", next_mail_at: retryAt, mail_attempts };
}
