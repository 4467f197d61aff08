import type { Settings } from "../settings.ts";

/*
 * The only file that knows the provider of mail, which is Cloudflare Email Service.
 */

export interface Mailer {
  from: string;
  provider: SendEmail;
}

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** What came of a mail. `reason` is the provider's code: it names no address. */
export type MailOutcome =
  | { state: "sent" }
  /** It was not sent, and may be sent later. */
  | { state: "deferred"; reason: string }
  /** It will never be sent. */
  | { state: "failed"; reason: string };

/** Null where the operator has not set up mail. */
export const openMailer = (
  { EMAIL }: Partial<Pick<Env, "EMAIL">>,
  { MAIL_FROM }: Pick<Settings, "MAIL_FROM">,
): Mailer | null => (EMAIL && MAIL_FROM !== undefined ? { from: MAIL_FROM, provider: EMAIL } : null);

const PASSING = ["E_RATE_LIMIT_EXCEEDED", "E_DAILY_LIMIT_EXCEEDED", "E_INTERNAL_SERVER_ERROR"];

export async function sendMail({ from, provider }: Mailer, mail: Mail): Promise<MailOutcome> {
  try {
    await provider.send({ from, ...mail });
    return { state: "sent" };
  } catch (error) {
    const reason = codeOf(error);
    return { state: PASSING.includes(reason) ? "deferred" : "failed", reason };
  }
}

/** The code is at the error, or in its message, which may also have the address. */
function codeOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return /\bE_[A-Z_]{1,50}/.exec(`${code} ${message}`)?.[0] ?? "unknown";
}
