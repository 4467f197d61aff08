import type { Settings } from "../settings.ts";
import { MAIL_TIMEOUT } from "../tuning.ts";

/* The only file that depends on the mail provider, Cloudflare Email Service. */

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

/** `reason` is the provider's code, which contains no address. */
export type MailOutcome =
  | { state: "sent" }
  /** The provider did not answer: the mail may have been sent, or may still be. */
  | { state: "unknown" }
  /** The mail was not sent, but may be sent later. */
  | { state: "deferred"; reason: string }
  /** The mail will never be sent. With the reason `NO_CODE`, it may have been sent already. */
  | { state: "failed"; reason: string };

export const mailerOf = (
  { EMAIL }: Partial<Pick<Env, "EMAIL">>,
  { MAIL_FROM }: Pick<Settings, "MAIL_FROM">,
): Mailer | null => (EMAIL && MAIL_FROM !== undefined ? { from: MAIL_FROM, provider: EMAIL } : null);

const PASSING = ["E_RATE_LIMIT_EXCEEDED", "E_DAILY_LIMIT_EXCEEDED", "E_INTERNAL_SERVER_ERROR"];

const NO_CODE = "unknown";

export async function sendMail({ from, provider }: Mailer, mail: Mail): Promise<MailOutcome> {
  // The provider's call does not accept an AbortSignal.
  const limit = whenAborted(AbortSignal.timeout(MAIL_TIMEOUT));
  try {
    return await Promise.race([
      limit.then((): MailOutcome => ({ state: "unknown" })),
      provider.send({ from, ...mail }).then((): MailOutcome => ({ state: "sent" })),
    ]);
  } catch (error) {
    const reason = codeOf(error);
    return { state: PASSING.includes(reason) ? "deferred" : "failed", reason };
  }
}

const whenAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });

/** The code is a property of the error, or part of its message, which may also contain the address. */
function codeOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return /\bE_[A-Z_]{1,50}/.exec(`${code} ${message}`)?.[0] ?? NO_CODE;
}
