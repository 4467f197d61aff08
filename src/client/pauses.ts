import type { VideoVisitError } from "./errors.ts";
import { LONGEST_TIMER } from "./settings.ts";

/** In milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/** In seconds. A limit that lasts longer, such as that of an organization's day, is the caller's to know. */
const LONGEST_RETRY_AFTER = 60;

/** Whether a request can be sent again while its caller waits. */
export const isWorthRepeating = ({ isTransient, retryAfter = 0 }: VideoVisitError): boolean =>
  isTransient && retryAfter <= LONGEST_RETRY_AFTER;

/**
 * How long to wait before the next attempt, in milliseconds: never the same for all clients that failed at once.
 *
 * @param attempt the number of the one that failed; the first is 1
 */
export function pauseAfter({ retryAfter }: VideoVisitError, attempt: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000 + Math.random() * FIRST_PAUSE;
  return Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE) * (0.5 + Math.random() / 2);
}

/** @throws the reason of the signal as soon as it is aborted */
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
