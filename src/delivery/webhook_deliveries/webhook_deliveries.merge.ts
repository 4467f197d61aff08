import { MAX_WEBHOOK_RETRY_AFTER, WEBHOOK_RETRY_DELAYS, WEBHOOK_TIMEOUT } from "../../lifetimes.ts";
import { WEBHOOK_RETRY_JITTER } from "../../tuning.ts";
import type { webhookDeliveries } from "./webhook_deliveries.table.ts";

type DeliveryRow = typeof webhookDeliveries.$inferSelect;

export type Pending = Pick<DeliveryRow, "event_id" | "next_attempt_at">;

export interface Attempt {
  /** When the attempt began. */
  at: number;
  /** null if no response came. */
  response_status: number | null;
  /** null if it succeeded. */
  error: string | null;
  retry_after: string | null;
}

/*
 * Attempt errors are fixed texts: the receiver's response is not kept.
 */

export const NO_ANSWER = `There was no response within ${WEBHOOK_TIMEOUT / 1000} seconds`;

export const UNREACHABLE = "The endpoint could not be reached";

export const REDIRECTED = "The response is a redirect, which is not followed";

export const NO_SUCCESS = "The response status is not a success (200 to 299)";

const NOT_WANTED = "The endpoint no longer receives events of this type";

type SentDelivery = Pending & Pick<DeliveryRow, "webhook_endpoint_id" | "attempts" | "last_attempt_at">;

/** A delivery as a lane writes it back. */
export type Outcome = Omit<DeliveryRow, "organization_id">;

export interface Result {
  delivery: SentDelivery;
  /** Undefined if the endpoint no longer wants the event, which is then given up. */
  attempt: Attempt | undefined;
  outcome: Outcome;
}

/** @param now when the attempt ended */
export function mergeDelivery(
  { webhook_endpoint_id, event_id, attempts, last_attempt_at }: SentDelivery,
  attempt: Attempt | undefined,
  now: number,
): Outcome {
  const key = { webhook_endpoint_id, event_id };
  if (!attempt)
    return {
      ...key,
      attempts,
      last_attempt_at,
      response_status: null,
      error: NOT_WANTED,
      next_attempt_at: null,
    };
  const { at, response_status, error, retry_after } = attempt;
  return {
    ...key,
    attempts: attempts + 1,
    last_attempt_at: at,
    response_status,
    error,
    next_attempt_at: error === null ? null : nextAttemptAt(attempts + 1, retry_after, now),
  };
}

/**
 * When to try a delivery again, or null to give it up.
 *
 * @param attempts the number of failed attempts, including the last one
 * @param now when the last attempt ended
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

/** Parses `Retry-After`, in seconds or as a date; returns null if it is neither. */
export function retryAfterAt(retry_after: string | null, now: number): number | null {
  if (retry_after === null) return null;
  const asked = /^\d+$/.test(retry_after) ? now + Number(retry_after) * 1000 : Date.parse(retry_after);
  return Number.isNaN(asked) ? null : Math.min(asked, now + MAX_WEBHOOK_RETRY_AFTER);
}
