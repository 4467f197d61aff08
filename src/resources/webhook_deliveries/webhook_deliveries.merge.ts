import type { webhookDeliveries } from "../../database/schema.ts";
import { MAX_WEBHOOK_RETRY_AFTER, WEBHOOK_RETRY_DELAYS, WEBHOOK_TIMEOUT } from "../../lifetimes.ts";
import { WEBHOOK_RETRY_JITTER } from "../../tuning.ts";

type DeliveryRow = typeof webhookDeliveries.$inferSelect;

/** A delivery, and when it is due. */
export type Pending = Pick<DeliveryRow, "event_id" | "next_attempt_at">;

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

/*
 * The errors of attempts are our own words: what a receiver answers is not kept.
 */

export const NO_ANSWER = `There was no response within ${WEBHOOK_TIMEOUT / 1000} seconds`;

export const UNREACHABLE = "The endpoint could not be reached";

export const REDIRECTED = "The response is a redirect, which is not followed";

export const NO_SUCCESS = "The response has no status of success (200 to 299)";

/** A delivery as a lane takes it. */
type SentDelivery = Pending & Pick<DeliveryRow, "webhook_endpoint_id" | "attempts">;

/** What a lane writes of a delivery. */
export type Outcome = Omit<DeliveryRow, "organization_id">;

/** What came of a delivery in a lane. */
export interface Result {
  delivery: SentDelivery;
  attempt: Attempt;
  outcome: Outcome;
}

/** @param now when the attempt ended */
export function mergeDelivery(
  { webhook_endpoint_id, event_id, attempts }: SentDelivery,
  { at, response_status, error, retry_after }: Attempt,
  now: number,
): Outcome {
  return {
    webhook_endpoint_id,
    event_id,
    attempts: attempts + 1,
    last_attempt_at: at,
    response_status,
    error,
    next_attempt_at: error === null ? null : nextAttemptAt(attempts + 1, retry_after, now),
  };
}

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
