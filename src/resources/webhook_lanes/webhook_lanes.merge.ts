import type { webhookEndpoints } from "../../database/schema.ts";
import { WEBHOOK_FAILING_FOR } from "../../lifetimes.ts";
import {
  MAX_WEBHOOK_PAUSE,
  MIN_WEBHOOK_PAUSE,
  WEBHOOK_FAILURES_IN_A_ROW,
  WEBHOOK_NUDGE_AHEAD,
} from "../../tuning.ts";
import { SECOND } from "../../units.ts";
import {
  type Attempt,
  NO_ANSWER,
  type Outcome,
  type Pending,
  type Result,
  retryAfterAt,
} from "../webhook_deliveries/webhook_deliveries.merge.ts";

type EndpointInLane = Omit<typeof webhookEndpoints.$inferSelect, "secret" | "previous_secrets">;

const GONE = 410;

/** Until when a failing endpoint is left in peace: the longer it has been failing, the longer. */
export function pausedUntil(failing_since: number, retry_after: string | null, now: number): number {
  const asked = (retryAfterAt(retry_after, now) ?? 0) - now;
  const pause = Math.max(now - failing_since, asked, MIN_WEBHOOK_PAUSE);
  return now + Math.min(pause, MAX_WEBHOOK_PAUSE);
}

const isGone = (attempts: Attempt[]) => attempts.at(-1)?.response_status === GONE;

/** One failure does not keep later events back. But an endpoint that is down is left in peace for a while. */
function isDown(attempts: Attempt[]): boolean {
  const last = attempts.at(-1);
  if (!last || last.error === null) return false;
  const failuresInARow = attempts.length - 1 - attempts.findLastIndex(({ error }) => error === null);
  return last.error === NO_ANSWER || last.retry_after !== null || failuresInARow >= WEBHOOK_FAILURES_IN_A_ROW;
}

/** Whether a lane sends nothing more after these attempts. */
export const isLaneOver = (attempts: Attempt[]): boolean => isGone(attempts) || isDown(attempts);

/**
 * What is to be written of deliveries. One that was asked for again while it was sent is sent once more.
 *
 * @param deliveries as they are now
 */
export function outcomesToWrite(deliveries: Pending[], results: Result[]): Outcome[] {
  const dueAt = new Map(deliveries.map(({ event_id, next_attempt_at }) => [event_id, next_attempt_at]));
  return results
    .filter(({ delivery }) => dueAt.get(delivery.event_id) === delivery.next_attempt_at)
    .map(({ outcome }) => outcome);
}

/** What attempts at its URL mean for an endpoint: how long it has been failing, whether it is disabled, or left in peace. */
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
  const hasFailedTooLong = failing_since !== null && failing_since <= now - WEBHOOK_FAILING_FOR;
  if (!endpoint.is_active || !(isGone(attempts) || hasFailedTooLong)) return next;
  const disabled_reason = isGone(attempts) ? "gone" : "failing";
  return { ...next, is_active: false, disabled_reason, updated_at: now };
}

/** What a lane did. */
interface Work {
  /** Where it sent. */
  url: string;
  opened_at: number;
  results: Result[];
}

/** What is known at the end of a lane. */
interface LaneState {
  endpoint: EndpointInLane;
  /** Those that were sent. */
  deliveries: Pending[];
  /** When the first of the others is due, if any is pending. */
  others_due_at: number | null;
}

export interface LaneEnd {
  endpoint: EndpointInLane;
  outcomes: Outcome[];
  /** When a message for the endpoint must come, or null if none must be sent. */
  nudge_at: number | null;
}

/** What becomes of an endpoint at the end of its lane, and of the deliveries that were sent. */
export function endLane(
  { endpoint, deliveries, others_due_at }: LaneState,
  { url, opened_at, results }: Work,
  now: number,
): LaneEnd {
  const outcomes = outcomesToWrite(deliveries, results);
  const nextAttempts = new Map(
    [...deliveries, ...outcomes].map(({ event_id, next_attempt_at }) => [event_id, next_attempt_at]),
  );
  const due_at = earliest([others_due_at, ...nextAttempts.values()]);
  // What was learnt of another URL says nothing of this one.
  const attempts = endpoint.url === url ? results.map(({ attempt }) => attempt) : [];
  const next = { ...endpointAfter(endpoint, attempts, now), due_at };
  // A delivery that was due and was not found has no event any more. The cron deletes it.
  const isOrphaned = results.length === 0 && due_at !== null && due_at <= opened_at;
  if (due_at === null || isOrphaned || !next.is_active)
    return { endpoint: { ...next, message_at: null }, outcomes, nudge_at: null };
  const ready_at = Math.max(due_at, next.lease_until ?? 0, now);
  // A message that comes within the second stays: if each lane sent another, they would multiply.
  const { message_at } = endpoint;
  if (message_at !== null && message_at > now && message_at < ready_at + SECOND)
    return { endpoint: next, outcomes, nudge_at: null };
  const nudge_at = ready_at - now < WEBHOOK_NUDGE_AHEAD ? inWholeSeconds(ready_at, now) : null;
  return { endpoint: { ...next, message_at: nudge_at }, outcomes, nudge_at };
}

/** A queue delays a message by whole seconds. */
const inWholeSeconds = (time: number, now: number) => now + Math.ceil((time - now) / SECOND) * SECOND;

function earliest(times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
