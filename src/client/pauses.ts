import type { VideoVisitError } from "./errors.ts";

/** In milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8_000;

/** In seconds. A limit that lasts longer, such as that of an organization's day, is the caller's to know. */
const LONGEST_RETRY_AFTER = 60;

/**
 * How long to wait before the next attempt, in milliseconds: never the same for all clients that failed at once.
 *
 * @param attempt the number of the one that failed; the first is 1
 * @returns undefined if it would take too long
 */
export function pauseAfter({ retryAfter }: VideoVisitError, attempt: number): number | undefined {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE);
  if (retryAfter === undefined) return pause * (0.5 + Math.random() / 2);
  if (retryAfter > LONGEST_RETRY_AFTER) return undefined;
  return retryAfter * 1000 + Math.random() * FIRST_PAUSE;
}

/** @throws the reason of the signal as soon as it is aborted */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(finish, milliseconds);
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
