import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import { log } from "../../http/log.ts";
import { DUE_TOLERANCE, WEBHOOK_LANE_TIME, WEBHOOK_LEASE, WEBHOOK_RESULTS_PORTION } from "../../tuning.ts";
import { mergeDelivery, type Result } from "../webhook_deliveries/webhook_deliveries.merge.ts";
import { webhookOfDelivery } from "../webhook_deliveries/webhook_deliveries.schemas.ts";
import { sendWebhook } from "../webhook_deliveries/webhook_deliveries.sending.ts";
import type { WebhookEndpoint } from "../webhook_endpoints/webhook_endpoints.schemas.ts";
import { endpointWrites } from "../webhook_endpoints/webhook_endpoints.sql.ts";
import type { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";
import {
  attemptsOf,
  endLane,
  isLaneOver,
  type LaneEnd,
  outcomesToWrite,
  wantsType,
} from "./webhook_lanes.merge.ts";
import {
  type DueDelivery,
  deliveriesInLane,
  dueDeliveries,
  endpointInLane,
  leaseEndpoint,
  othersInLane,
  writeOutcomes,
} from "./webhook_lanes.sql.ts";

/*
 * Each endpoint has a lane: its deliveries are sent one after another, in the order of their events, by one invocation
 * at a time. So a slow endpoint delays only itself. If a lane dies, its deliveries are still due, and are sent again
 * when its lease has expired. Deliveries that it had sent but not recorded are sent twice.
 */

export interface Lane {
  endpoint: typeof webhookEndpoints.$inferSelect;
  deliveries: DueDelivery[];
  opened_at: number;
  lease_until: number;
}

/** Leases an endpoint; null if it is inactive or already leased. */
export async function openLane({ db, now }: Context, id: number): Promise<Lane | null> {
  const lease_until = now + WEBHOOK_LEASE;
  const [[endpoint], deliveries] = await runBatch(db, [
    leaseEndpoint({ id, now, lease_until }),
    dueDeliveries({ id, now, due_before: now + DUE_TOLERANCE }),
  ]);
  return endpoint ? { endpoint, deliveries, opened_at: now, lease_until } : null;
}

/**
 * Sends the due deliveries and releases the endpoint.
 *
 * @returns when to send a message for the endpoint, or null for no message
 */
export async function runLane(context: Context, lane: Lane): Promise<number | null> {
  const { db } = context;
  const started = Date.now();
  const results: Result[] = [];
  for (const delivery of lane.deliveries) {
    const attempt = wantsType(lane.endpoint, delivery.type)
      ? await sendWebhook(context, lane.endpoint, webhookOfDelivery(delivery))
      : undefined;
    results.push({ delivery, attempt, outcome: mergeDelivery(delivery, attempt, Date.now()) });
    if (isLaneOver(attemptsOf(results)) || Date.now() - started > WEBHOOK_LANE_TIME) break;
    if (results.length % WEBHOOK_RESULTS_PORTION === 0 && !(await recordResults(db, lane, results))) break;
  }
  const end = await closeLane(db, lane, results);
  if (end?.endpoint.disabled_reason) {
    const { id, organization_id, disabled_reason } = end.endpoint;
    log("webhook_endpoint_disabled", { organization_id, webhook_endpoint_id: id, reason: disabled_reason });
  }
  return end?.nudge_at ?? null;
}

/**
 * Writes the outcomes so far.
 *
 * @returns false if the lane must stop: its endpoint was changed, deleted, or leased by another lane
 */
async function recordResults(
  db: Database,
  { endpoint: { id, updated_at }, lease_until }: Lane,
  results: Result[],
): Promise<boolean> {
  const endpoint = await decideAndWrite(
    db,
    {
      endpoint: endpointInLane({ id, lease_until }),
      deliveries: deliveriesInLane({ id, event_ids: eventIdsOf(results) }),
    },
    ({ endpoint: [endpoint], deliveries }): Decision<WebhookEndpoint | null> => {
      if (!endpoint) return { unchanged: null };
      const outcomes = JSON.stringify(outcomesToWrite(deliveries, results));
      return { writes: [writeOutcomes({ outcomes }), endpointWrites.update(endpoint, endpoint)] };
    },
  );
  return endpoint?.updated_at === updated_at;
}

/** @returns null, with nothing written, if the endpoint was deleted or leased by another lane */
async function closeLane(
  db: Database,
  { endpoint: { id, url }, lease_until, opened_at }: Lane,
  results: Result[],
): Promise<LaneEnd | null> {
  const now = Date.now();
  const event_ids = eventIdsOf(results);
  let end = null as LaneEnd | null;
  await decideAndWrite(
    db,
    {
      endpoint: endpointInLane({ id, lease_until }),
      deliveries: deliveriesInLane({ id, event_ids }),
      others: othersInLane({ id, event_ids }),
    },
    ({ endpoint: [endpoint], deliveries, others: [others] }): Decision<WebhookEndpoint | null> => {
      if (!endpoint) return { unchanged: null };
      const known = { endpoint, deliveries, others_due_at: others?.due_at ?? null };
      end = endLane(known, { url, opened_at, results }, now);
      const outcomes = JSON.stringify(end.outcomes);
      return { writes: [writeOutcomes({ outcomes }), endpointWrites.update(endpoint, end.endpoint)] };
    },
  );
  return end;
}

const eventIdsOf = (results: Result[]) => JSON.stringify(results.map(({ delivery }) => delivery.event_id));
