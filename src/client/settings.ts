/** How often a request that failed is sent again. */
export const MAX_RETRIES = 4;

/** In milliseconds. The service answers earlier, whatever it waits for. */
export const TIMEOUT = 30_000;

export interface ClientSettings {
  /** Where the service is: `https://visits.example.com`. On loopback, http will do. */
  baseUrl: string;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** How often a request that failed is sent again, at most. By default 4 times. */
  maxRetries?: number | undefined;
  /** How long an attempt may take, in milliseconds. By default 30,000. */
  timeout?: number | undefined;
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined;
}

/** Why somebody reads health data, as HL7 names it (PurposeOfUse). */
export type PurposeOfUse =
  | "TREAT"
  | "HOPERAT"
  | "HPAYMT"
  | "ETREAT"
  | "PATRQT"
  | "PUBHLTH"
  | "HRESCH"
  | "BTG";

/** In milliseconds: timers take a longer time for none. */
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
