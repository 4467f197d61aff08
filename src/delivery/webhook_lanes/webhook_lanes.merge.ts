import { type EventType, eventTypesOf } from "../../database/enums.ts";
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
import type { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";

type EndpointInLane = Omit<typeof webhookEndpoints.$inferSelect, "secret" | "previous_secrets">;

/** Whether an endpoint receives events of a type now: it may have taken the type away since the event. */
export const wantsType = ({ event_types }: Pick<EndpointInLane, "event_types">, type: EventType): boolean =>
  event_types === null || eventTypesOf(event_types).includes(type);

const GONE = 410;

/** When to try a failing endpoint again: the pause grows with the time that it has been failing. */
export function pausedUntil(failing_since: number, retry_after: string | null, now: number): number {
  const asked = (retryAfterAt(retry_after, now) ?? 0) - now;
  const pause = Math.max(now - failing_since, asked, MIN_WEBHOOK_PAUSE);
  return now + Math.min(pause, MAX_WEBHOOK_PAUSE);
}

const isGone = (attempts: Attempt[]) => attempts.at(-1)?.response_status === GONE;

/** A single failure does not delay later events, unless the endpoint did not answer or asked for a pause. */
function isDown(attempts: Attempt[]): boolean {
  const last = attempts.at(-1);
  if (!last || last.error === null) return false;
  const failuresInARow = attempts.length - 1 - attempts.findLastIndex(({ error }) => error === null);
  return last.error === NO_ANSWER || last.retry_after !== null || failuresInARow >= WEBHOOK_FAILURES_IN_A_ROW;
}

export const attemptsOf = (results: Result[]) => results.flatMap(({ attempt }) => attempt ?? []);

export const isLaneOver = (attempts: Attempt[]): boolean => isGone(attempts) || isDown(attempts);

/**
 * The outcomes to write. Drops those of deliveries that were made due again while they were sent, so that they are sent
 * again.
 *
 * @param deliveries the deliveries as they are in the database now
 */
export function outcomesToWrite(deliveries: Pending[], results: Result[]): Outcome[] {
  const dueAt = new Map(deliveries.map(({ event_id, next_attempt_at }) => [event_id, next_attempt_at]));
  return results
    .filter(({ delivery }) => dueAt.get(delivery.event_id) === delivery.next_attempt_at)
    .map(({ outcome }) => outcome);
}

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

interface Work {
  /** The URL that the lane sent to. */
  url: string;
  opened_at: number;
  results: Result[];
}

interface LaneState {
  endpoint: EndpointInLane;
  /** The deliveries that the lane sent. */
  deliveries: Pending[];
  /** When the next of the other pending deliveries is due; null without any. */
  others_due_at: number | null;
}

export interface LaneEnd {
  endpoint: EndpointInLane;
  outcomes: Outcome[];
  /** When to send a message for the endpoint; null for no message. */
  nudge_at: number | null;
}

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
  // Attempts at an earlier URL say nothing about the current one.
  const attempts = endpoint.url === url ? attemptsOf(results) : [];
  const next = { ...endpointAfter(endpoint, attempts, now), due_at };
  // A due delivery that the lane did not find has lost its event. The cron deletes it.
  const isOrphaned = results.length === 0 && due_at !== null && due_at <= opened_at;
  if (due_at === null || isOrphaned || !next.is_active)
    return { endpoint: { ...next, message_at: null }, outcomes, nudge_at: null };
  const ready_at = Math.max(due_at, next.lease_until ?? 0, now);
  // Keep a message that arrives within the second: if each lane sent another one, they would multiply.
  const { message_at } = endpoint;
  if (message_at !== null && message_at > now && message_at < ready_at + SECOND)
    return { endpoint: next, outcomes, nudge_at: null };
  const nudge_at = ready_at - now < WEBHOOK_NUDGE_AHEAD ? inWholeSeconds(ready_at, now) : null;
  return { endpoint: { ...next, message_at: nudge_at }, outcomes, nudge_at };
}

/** Rounded up to whole seconds, because a queue delays messages by whole seconds. */
const inWholeSeconds = (time: number, now: number) => now + Math.ceil((time - now) / SECOND) * SECOND;

function earliest(times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
