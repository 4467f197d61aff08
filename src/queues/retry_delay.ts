import { QUEUE_RETRY_DELAY, QUEUE_RETRY_JITTER, QUEUE_RETRY_LONGEST } from "../tuning.ts";

/** In seconds: the pause after this many attempts. */
export function retryDelay(attempts: number): number {
  const delay = Math.min(QUEUE_RETRY_DELAY * 2 ** (attempts - 1), QUEUE_RETRY_LONGEST);
  return Math.round(delay * (1 + QUEUE_RETRY_JITTER * Math.random()));
}
