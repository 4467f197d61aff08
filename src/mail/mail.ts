import type { Settings } from "../settings.ts";
import { MAIL_TIMEOUT } from "../tuning.ts";

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
  /** The provider did not answer: it may have been sent, and may yet be. */
  | { state: "unknown" }
  /** It was not sent, and may be sent later. */
  | { state: "deferred"; reason: string }
  /** It will never be sent. With the reason `NO_CODE`, it may have been. */
  | { state: "failed"; reason: string };

/** Null where the operator has not set up mail. */
export const mailerOf = (
  { EMAIL }: Partial<Pick<Env, "EMAIL">>,
  { MAIL_FROM }: Pick<Settings, "MAIL_FROM">,
): Mailer | null => (EMAIL && MAIL_FROM !== undefined ? { from: MAIL_FROM, provider: EMAIL } : null);

const PASSING = ["E_RATE_LIMIT_EXCEEDED", "E_DAILY_LIMIT_EXCEEDED", "E_INTERNAL_SERVER_ERROR"];

/** The `reason` where the provider gave no code. */
export const NO_CODE = "unknown";

export async function sendMail({ from, provider }: Mailer, mail: Mail): Promise<MailOutcome> {
  // The provider's own call takes no signal.
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

/** The code is at the error, or in its message, which may also have the address. */
function codeOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return /\bE_[A-Z_]{1,50}/.exec(`${code} ${message}`)?.[0] ?? NO_CODE;
}
