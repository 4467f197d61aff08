import type { Context } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { log } from "../../http/log.ts";
import {
  WEBHOOK_CLOCK_TOLERANCE,
  WEBHOOK_FAILING_FOR,
  WEBHOOK_FAILURES_IN_A_ROW,
  WEBHOOK_LANE_TIME,
  WEBHOOK_LEASE,
  WEBHOOK_RESULTS_PORTION,
} from "../../limits.ts";
import {
  dueDeliveries,
  endLane,
  endpointInLane,
  leaseEndpoint,
  type Result,
  recordResults,
  updateDue,
} from "./webhook_deliveries.leases.ts";
import { type Attempt, GONE, nextAttemptAt, pausedUntil } from "./webhook_deliveries.merge.ts";
import { webhookOf } from "./webhook_deliveries.schemas.ts";
import { NO_ANSWER, sendWebhook } from "./webhook_deliveries.sending.ts";
import type { DueDelivery, LaneEndpoint } from "./webhook_deliveries.sql.ts";

/*
 * Each endpoint has a lane: its deliveries are sent one after the other, in the order of their events, by one invocation
 * at a time. So an endpoint that is slow keeps nobody waiting but itself. A lane that dies leaves its deliveries as they
 * were: they are due, and are sent again when its lease has expired. What it had sent and not recorded is sent twice.
 */

/** An endpoint that is leased, and what it is sent. */
export interface Lane {
  endpoint: LaneEndpoint;
  deliveries: DueDelivery[];
  opened_at: number;
  lease_until: number;
}

/** Takes an endpoint, if there is something to send and nobody else has it. */
export async function openLane({ db, now }: Context, id: number): Promise<Lane | null> {
  const lease_until = now + WEBHOOK_LEASE;
  const [[endpoint], deliveries] = await runBatch(db, [
    leaseEndpoint({ id, now, lease_until }),
    dueDeliveries({ id, now, due_before: now + WEBHOOK_CLOCK_TOLERANCE }),
  ]);
  return endpoint ? { endpoint, deliveries, opened_at: now, lease_until } : null;
}

/** What has happened in a lane so far. */
interface Progress {
  delivered: boolean;
  /** When the first attempt after the last success failed. */
  failed_at: number | null;
  failuresInARow: number;
  is_gone: boolean;
  paused_until: number | null;
}

/**
 * Sends what is due, and gives the endpoint back.
 *
 * @returns when a message for the endpoint must come, or null if none must
 */
export async function runLane({ db }: Context, lane: Lane): Promise<number | null> {
  const { endpoint, deliveries, opened_at, lease_until } = lane;
  const { id, url } = endpoint;
  const progress: Progress = {
    delivered: false,
    failed_at: null,
    failuresInARow: 0,
    is_gone: false,
    paused_until: null,
  };
  const started = Date.now();
  let results: Result[] = [];
  const record = () => recordResults({ results: JSON.stringify(results) });
  for (const delivery of deliveries) {
    const attempt = await sendWebhook(endpoint, webhookOf(delivery));
    results.push(toResult(endpoint, delivery, attempt, Date.now()));
    noteAttempt(progress, attempt, endpoint, Date.now());
    if (progress.is_gone || progress.paused_until !== null || Date.now() - started > WEBHOOK_LANE_TIME) break;
    if (results.length >= WEBHOOK_RESULTS_PORTION) {
      const [, inLane] = await runBatch(db, [record(), endpointInLane({ id, lease_until, url })]);
      results = [];
      if (inLane.length === 0) break;
    }
  }
  const now = Date.now();
  const { delivered, failed_at, is_gone, paused_until } = progress;
  const failing_before = now - WEBHOOK_FAILING_FOR;
  const [, , [end]] = await runBatch(db, [
    record(),
    updateDue({ id, lease_until }),
    endLane({ id, lease_until, url, paused_until, delivered, failed_at, is_gone, failing_before, now }),
  ]);
  if (end?.disabled_reason) {
    const { organization_id } = endpoint;
    log("webhook_endpoint_disabled", {
      organization_id,
      webhook_endpoint_id: id,
      reason: end.disabled_reason,
    });
  }
  if (!end?.is_active || end.due_at === null) return null;
  // A delivery that was due and was not found has no event any more. The cron deletes it.
  if (deliveries.length === 0 && end.due_at <= opened_at) return null;
  const isUnderWay = end.message_at === endpoint.message_at && (end.message_at ?? 0) > now;
  return isUnderWay ? null : end.message_at;
}

function toResult({ id }: LaneEndpoint, delivery: DueDelivery, attempt: Attempt, now: number): Result {
  const attempts = delivery.attempts + 1;
  return {
    webhook_endpoint_id: id,
    event_id: delivery.event_id,
    due_at: delivery.next_attempt_at,
    attempts,
    last_attempt_at: attempt.at,
    response_status: attempt.response_status,
    error: attempt.error,
    next_attempt_at: attempt.error === null ? null : nextAttemptAt(attempts, attempt.retry_after, now),
  };
}

/** One failure does not keep later events back. But an endpoint that is down is left in peace for a while. */
function noteAttempt(progress: Progress, attempt: Attempt, endpoint: LaneEndpoint, now: number) {
  if (attempt.error === null) {
    progress.delivered = true;
    progress.failed_at = null;
    progress.failuresInARow = 0;
    return;
  }
  progress.failed_at ??= attempt.at;
  progress.failuresInARow++;
  progress.is_gone = attempt.response_status === GONE;
  if (
    attempt.error === NO_ANSWER ||
    attempt.retry_after !== null ||
    progress.failuresInARow >= WEBHOOK_FAILURES_IN_A_ROW
  ) {
    const failing_since = progress.delivered
      ? progress.failed_at
      : (endpoint.failing_since ?? progress.failed_at);
    progress.paused_until = pausedUntil(failing_since, attempt.retry_after, now);
  }
}
