export const MAX_RETRIES = 4;

/** In milliseconds. The service always responds sooner, even if it waits for something. */
export const TIMEOUT = 30_000;

export interface ClientSettings {
  /** The address of the service, such as `https://visits.example.com`. `http://` is accepted only for loopback addresses. */
  baseUrl: string;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** How many times a failed request is retried at most. By default 4. */
  maxRetries?: number | undefined;
  /** The timeout of each attempt, in milliseconds. By default 30,000. */
  timeout?: number | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The reason for reading health data: a code of HL7's PurposeOfUse. */
export type PurposeOfUse =
  | "TREAT"
  | "HOPERAT"
  | "HPAYMT"
  | "ETREAT"
  | "PATRQT"
  | "PUBHLTH"
  | "HRESCH"
  | "BTG";

/** In milliseconds: a timer with a longer delay fires at once. */
export const LONGEST_TIMER: number = 2 ** 31 - 1;

/** @throws TypeError naming the option */
export function requireTimeout(timeout: number): number {
  if (typeof timeout !== "number" || !(timeout > 0))
    throw new TypeError("timeout: must be a number of milliseconds above 0");
  return Math.min(timeout, LONGEST_TIMER);
}

/** @throws TypeError naming the option */
export function requireRetries(maxRetries: number): number {
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw new TypeError("maxRetries: must be an integer, 0 or more");
  return maxRetries;
}

const CARRIED = /^[!-~](?:[ -~]*[!-~])?$/;

/** @throws TypeError that names the option but not the value, which may be a secret */
export function headerValue(option: string, value: unknown): string {
  if (typeof value !== "string" || !CARRIED.test(value))
    throw new TypeError(
      `${option}: must be printable ASCII characters, without a space or line break at its ends`,
    );
  return value;
}
