import type { VideoVisitError } from "./errors.ts";
import { LONGEST_TIMER } from "./settings.ts";

/** In milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/** In seconds. A longer wait, such as for an organization's daily limit, is left to the caller. */
const LONGEST_RETRY_AFTER = 60;

export const isWorthRepeating = ({ isTransient, retryAfter = 0 }: VideoVisitError): boolean =>
  isTransient && retryAfter <= LONGEST_RETRY_AFTER;

/**
 * The pause before the next attempt, in milliseconds. It is random, so that clients that failed together do not all retry at
 * the same moment.
 *
 * @param attempt the number of the failed attempt, from 1
 */
export function pauseAfter({ retryAfter }: VideoVisitError, attempt: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000 + Math.random() * FIRST_PAUSE;
  return Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE) * (0.5 + Math.random() / 2);
}

/** @throws the signal's reason as soon as it aborts */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(finish, Math.min(milliseconds, LONGEST_TIMER));
    function finish() {
      signal?.removeEventListener("abort", stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}
