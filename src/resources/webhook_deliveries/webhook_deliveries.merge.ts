import {
  MAX_WEBHOOK_PAUSE,
  MAX_WEBHOOK_RETRY_AFTER,
  MIN_WEBHOOK_PAUSE,
  WEBHOOK_RETRY_DELAYS,
  WEBHOOK_RETRY_JITTER,
} from "../../limits.ts";

/** How one attempt to deliver ended. */
export interface Attempt {
  /** When it began. */
  at: number;
  /** null if no response came. */
  response_status: number | null;
  /** null if it succeeded. */
  error: string | null;
  /** What `Retry-After` of the response said. */
  retry_after: string | null;
}

export const GONE = 410;

/**
 * When a delivery is tried again, or null if it is given up.
 *
 * @param attempts how many failed, with the last
 * @param now when the last ended
 */
export function nextAttemptAt(
  attempts: number,
  retry_after: string | null,
  now: number,
  chance = Math.random(),
): number | null {
  const delay = WEBHOOK_RETRY_DELAYS[attempts - 1];
  if (delay === undefined) return null;
  const retryAt = now + Math.round(delay * (1 + WEBHOOK_RETRY_JITTER * chance));
  return Math.max(retryAt, retryAfterAt(retry_after, now) ?? 0);
}

/** The time that `Retry-After` names, as seconds or as a date, or null if it names none. */
export function retryAfterAt(retry_after: string | null, now: number): number | null {
  if (retry_after === null) return null;
  const asked = /^\d+$/.test(retry_after) ? now + Number(retry_after) * 1000 : Date.parse(retry_after);
  return Number.isNaN(asked) ? null : Math.min(asked, now + MAX_WEBHOOK_RETRY_AFTER);
}

/** Until when a failing endpoint is left in peace: the longer it has been failing, the longer. */
export function pausedUntil(failing_since: number, retry_after: string | null, now: number): number {
  const asked = (retryAfterAt(retry_after, now) ?? 0) - now;
  const pause = Math.max(now - failing_since, asked, MIN_WEBHOOK_PAUSE);
  return now + Math.min(pause, MAX_WEBHOOK_PAUSE);
}
