import { type EventType, eventTypesOf } from "../../database/enums.ts";
import * as lifetimes from "../../lifetimes.ts";
import * as tuning from "../../tuning.ts";
import { SECOND } from "../../units.ts";
import type { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";
import type { webhookDeliveries } from "./webhook_deliveries.table.ts";

type DeliveryRow = typeof webhookDeliveries.$inferSelect;

export interface Attempt {
  at: number;
  /** null if no response came. */
  response_status: number | null;
  /** null if it succeeded. */
  error: string | null;
  retry_after: string | null;
}

/* The receiver's response is not kept. */

export const NO_ANSWER = `There was no response within ${lifetimes.WEBHOOK_TIMEOUT / 1000} seconds`;

export const UNREACHABLE = "The endpoint could not be reached";

export const REDIRECTED = "The response is a redirect, which is not followed";

export const NO_SUCCESS = "The response status is not a success (200 to 299)";

const NOT_WANTED = "The endpoint no longer receives events of this type";

/** Written only if the delivery was not made due again meanwhile. */
export type Outcome = Omit<DeliveryRow, "organization_id"> & { was_due_at: number | null };

/**
 * @param attempt undefined if the endpoint no longer wants the event
 * @param now when the attempt ended
 */
export function mergeDelivery(
  delivery: Pick<
    DeliveryRow,
    "webhook_endpoint_id" | "event_id" | "attempts" | "last_attempt_at" | "next_attempt_at"
  >,
  attempt: Attempt | undefined,
  now: number,
): Outcome {
  const { webhook_endpoint_id, event_id, attempts, last_attempt_at, next_attempt_at: was_due_at } = delivery;
  const key = { webhook_endpoint_id, event_id, was_due_at };
  const given_up = { response_status: null, error: NOT_WANTED, next_attempt_at: null };
  if (!attempt) return { ...key, attempts, last_attempt_at, ...given_up };
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

/** null gives the delivery up. `attempts` failed, and the last one ended at `now`. */
export function nextAttemptAt(
  attempts: number,
  retry_after: string | null,
  now: number,
  chance = Math.random(),
): number | null {
  const delay = lifetimes.WEBHOOK_RETRY_DELAYS[attempts - 1];
  if (delay === undefined) return null;
  const retryAt = now + Math.round(delay * (1 + tuning.WEBHOOK_RETRY_JITTER * chance));
  return Math.max(retryAt, retryAfterAt(retry_after, now) ?? 0);
}

/** In seconds, or as a date. */
function retryAfterAt(retry_after: string | null, now: number): number | null {
  if (retry_after === null) return null;
  const asked = /^\d+$/.test(retry_after) ? now + Number(retry_after) * 1000 : Date.parse(retry_after);
  return Number.isNaN(asked) ? null : Math.min(asked, now + lifetimes.MAX_WEBHOOK_RETRY_AFTER);
}

type EndpointInLane = Omit<typeof webhookEndpoints.$inferSelect, "secret" | "previous_secrets">;

/** The endpoint may have dropped the type since the event. */
export const wantsType = ({ event_types }: Pick<EndpointInLane, "event_types">, type: EventType): boolean =>
  event_types === null || eventTypesOf(event_types).includes(type);

const GONE = 410;

/** The pause grows with the time that the endpoint has been failing. */
export function pausedUntil(failing_since: number, retry_after: string | null, now: number): number {
  const asked = (retryAfterAt(retry_after, now) ?? 0) - now;
  const pause = Math.max(now - failing_since, asked, tuning.MIN_WEBHOOK_PAUSE);
  return now + Math.min(pause, tuning.MAX_WEBHOOK_PAUSE);
}

const isGone = (attempts: Attempt[]) => attempts.at(-1)?.response_status === GONE;

/** A single failure does not delay later events, unless the endpoint did not answer or asked for a pause. */
function isDown(attempts: Attempt[]): boolean {
  const last = attempts.at(-1);
  if (!last || last.error === null) return false;
  const failuresInARow = attempts.length - 1 - attempts.findLastIndex(({ error }) => error === null);
  return (
    last.error === NO_ANSWER ||
    last.retry_after !== null ||
    failuresInARow >= tuning.WEBHOOK_FAILURES_IN_A_ROW
  );
}

export const isLaneOver = (attempts: Attempt[]): boolean => isGone(attempts) || isDown(attempts);

function endpointAfter(endpoint: EndpointInLane, attempts: Attempt[], now: number): EndpointInLane {
  const failing_since = attempts.reduce(
    (since: number | null, { at, error }) => (error === null ? null : (since ?? at)),
    endpoint.failing_since,
  );
  const next: EndpointInLane = {
    ...endpoint,
    failing_since,
    lease_until: isDown(attempts)
      ? pausedUntil(failing_since ?? now, attempts.at(-1)?.retry_after ?? null, now)
      : null,
  };
  const hasFailedTooLong = failing_since !== null && failing_since <= now - lifetimes.WEBHOOK_FAILING_FOR;
  if (!endpoint.is_active || !(isGone(attempts) || hasFailedTooLong)) return next;
  const disabled_reason = isGone(attempts) ? "gone" : "failing";
  return { ...next, is_active: false, disabled_reason, updated_at: now };
}

export interface LaneEnd {
  endpoint: EndpointInLane;
  /** null for no message. */
  nudge_at: number | null;
}

/**
 * @param due_at when the next pending delivery is due
 * @param lane the URL that it sent to, and whether it found nothing due
 */
export function endLane(
  { endpoint, due_at }: { endpoint: EndpointInLane; due_at: number | null },
  lane: { url: string; opened_at: number; isEmpty: boolean },
  attempts: Attempt[],
  now: number,
): LaneEnd {
  // Attempts at an earlier URL say nothing about the current one.
  const next = { ...endpointAfter(endpoint, endpoint.url === lane.url ? attempts : [], now), due_at };
  // A due delivery that the lane did not find has lost its event. The cron deletes it.
  const isOrphaned = lane.isEmpty && due_at !== null && due_at <= lane.opened_at;
  if (due_at === null || isOrphaned || !next.is_active)
    return { endpoint: { ...next, message_at: null }, nudge_at: null };
  const ready_at = Math.max(due_at, next.lease_until ?? 0, now);
  // If each lane sent another message within the second, they would multiply.
  const { message_at } = endpoint;
  if (message_at !== null && message_at > now && message_at < ready_at + SECOND)
    return { endpoint: next, nudge_at: null };
  const nudge_at = ready_at - now < tuning.WEBHOOK_NUDGE_AHEAD ? inWholeSeconds(ready_at, now) : null;
  return { endpoint: { ...next, message_at: nudge_at }, nudge_at };
}

/** Rounded up to whole seconds, because a queue delays messages by whole seconds. */
const inWholeSeconds = (time: number, now: number) => now + Math.ceil((time - now) / SECOND) * SECOND;

export function earliest(times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
