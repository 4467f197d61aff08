import type { invites } from "../../database/schema.ts";
import type { MailOutcome } from "../../mail/mail.ts";
import { MAIL_RETRY_DELAY, MAIL_RETRY_JITTER, MAIL_RETRY_LONGEST } from "../../tuning.ts";

type InviteRow = typeof invites.$inferSelect;

/** What becomes of the mail of an invite that the provider did not take. */
export function afterFailedMail(
  { expires_at, mail_attempts: before }: Pick<InviteRow, "expires_at" | "mail_attempts">,
  { state }: Extract<MailOutcome, { state: "deferred" | "failed" }>,
  now: number,
  chance = Math.random(),
): Pick<InviteRow, "mail_status" | "next_mail_at" | "mail_attempts"> {
  const delay = Math.min(MAIL_RETRY_DELAY * 2 ** before, MAIL_RETRY_LONGEST);
  const retryAt = now + Math.round(delay * (1 + MAIL_RETRY_JITTER * chance));
  const mail_attempts = before + 1;
  return state === "failed" || retryAt >= expires_at
    ? { mail_status: "failed", next_mail_at: null, mail_attempts }
    : { mail_status: "queued", next_mail_at: retryAt, mail_attempts };
}
