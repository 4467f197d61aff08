import type { MailOutcome } from "../../mail/mail.ts";
import { growingPause } from "../../pauses.ts";
import { MAIL_RETRIES } from "../../tuning.ts";
import type { invites } from "../invites/invites.table.ts";

type InviteRow = typeof invites.$inferSelect;

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
