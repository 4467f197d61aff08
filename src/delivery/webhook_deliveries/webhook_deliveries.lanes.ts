import { and, asc, eq, getTableColumns, isNotNull, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { hasValues, iif, scalar } from "../../database/expressions.ts";
import { jsonField, jsonFields, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Row,
  runBatch,
  type Value,
} from "../../database/queries.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { log } from "../../http/log.ts";
import { isServed } from "../../organization/organizations/organizations.sql.ts";
import * as tuning from "../../tuning.ts";
import { events } from "../events/events.table.ts";
import type { WebhookEndpoint } from "../webhook_endpoints/webhook_endpoints.schemas.ts";
import { endpointWrites } from "../webhook_endpoints/webhook_endpoints.sql.ts";
import { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";
import * as merge from "./webhook_deliveries.merge.ts";
import { webhookOfDelivery } from "./webhook_deliveries.schemas.ts";
import { sendWebhook } from "./webhook_deliveries.sending.ts";
import { webhookDeliveries } from "./webhook_deliveries.table.ts";

/*
 * The deliveries of an endpoint are sent one after another, by one invocation at a time, so that a slow endpoint delays only
 * itself. If a lane dies, its deliveries are sent again when its lease has expired, also those that it had sent but not
 * recorded.
 */

export interface Lane {
  endpoint: typeof webhookEndpoints.$inferSelect;
  deliveries: DueDelivery[];
  opened_at: number;
  lease_until: number;
}

/** null if the endpoint is inactive or already leased. */
export async function openLane({ db, now }: Context, id: number): Promise<Lane | null> {
  const lease_until = now + tuning.WEBHOOK_LEASE;
  const [[endpoint], deliveries] = await runBatch(db, [
    leaseEndpoint({ id, now, lease_until }),
    dueDeliveries({ id, now, due_before: now + tuning.DUE_TOLERANCE }),
  ]);
  return endpoint ? { endpoint, deliveries, opened_at: now, lease_until } : null;
}

/** @returns when to send a message for the endpoint, or null for no message */
export async function runLane(context: Context, lane: Lane): Promise<number | null> {
  const { db } = context;
  const endAt = Date.now() + tuning.WEBHOOK_LANE_TIME;
  const attempts: merge.Attempt[] = [];
  let unrecorded: merge.Outcome[] = [];
  for (const delivery of lane.deliveries) {
    const attempt = merge.wantsType(lane.endpoint, delivery.type)
      ? await sendWebhook(context, lane.endpoint, webhookOfDelivery(delivery))
      : undefined;
    if (attempt) attempts.push(attempt);
    unrecorded.push(merge.mergeDelivery(delivery, attempt, Date.now()));
    if (merge.isLaneOver(attempts) || Date.now() > endAt) break;
    if (unrecorded.length === tuning.WEBHOOK_RESULTS_PORTION) {
      const isUnchanged = await record(db, lane, unrecorded);
      unrecorded = [];
      if (!isUnchanged) break;
    }
  }
  const end = await closeLane(db, lane, attempts, unrecorded);
  if (end?.endpoint.disabled_reason) {
    const { id, organization_id, disabled_reason } = end.endpoint;
    log("webhook_endpoint_disabled", { organization_id, webhook_endpoint_id: id, reason: disabled_reason });
  }
  return end?.nudge_at ?? null;
}

/** @returns false if the lane must stop: its endpoint was changed, deleted, or leased by another lane */
async function record(
  db: Database,
  { endpoint: { id, updated_at }, lease_until }: Lane,
  outcomes: merge.Outcome[],
): Promise<boolean> {
  const [, [endpoint]] = await runBatch(db, [
    writeOutcomes({ outcomes: JSON.stringify(outcomes) }),
    endpointInLane({ id, lease_until }),
  ]);
  return endpoint?.updated_at === updated_at;
}

/** @returns null, with nothing written, if the endpoint was deleted or leased by another lane */
async function closeLane(
  db: Database,
  { endpoint: { id, url }, lease_until, opened_at, deliveries }: Lane,
  attempts: merge.Attempt[],
  unrecorded: merge.Outcome[],
): Promise<merge.LaneEnd | null> {
  const now = Date.now();
  const outcomes = JSON.stringify(unrecorded);
  let end = null as merge.LaneEnd | null;
  await decideAndWrite(
    { db },
    { endpoint: endpointInLane({ id, lease_until }), others: othersDueAt({ id, outcomes }) },
    ({ endpoint: [endpoint], others: [others] }): Decision<WebhookEndpoint | null> => {
      if (!endpoint) return { unchanged: null };
      const retriesAt = unrecorded.map(({ next_attempt_at }) => next_attempt_at);
      const due_at = merge.earliest([others?.due_at ?? null, ...retriesAt]);
      end = merge.endLane(
        { endpoint, due_at },
        { url, opened_at, isEmpty: deliveries.length === 0 },
        attempts,
        now,
      );
      return { writes: [writeOutcomes({ outcomes }), endpointWrites.update(endpoint, end.endpoint)] };
    },
  );
  return end;
}

const { secret: ___, previous_secrets: ____, ...laneColumns } = getTableColumns(webhookEndpoints);

/** The columns of one index, so that SQLite does not read the rows. */
const dueColumns = {
  webhook_endpoint_id: webhookDeliveries.webhook_endpoint_id,
  event_id: webhookDeliveries.event_id,
  attempts: webhookDeliveries.attempts,
  last_attempt_at: webhookDeliveries.last_attempt_at,
  next_attempt_at: webhookDeliveries.next_attempt_at,
  type: events.type,
  created_at: events.created_at,
  data: events.data,
};

export type DueDelivery = Row<typeof dueColumns>;

const isFree = (now: Placeholders<{ now: number }>["now"]) =>
  and(
    webhookEndpoints.is_active,
    or(isNull(webhookEndpoints.lease_until), lte(webhookEndpoints.lease_until, now)),
    livesHere(webhookEndpoints.organization_id),
    isServed(webhookEndpoints.organization_id),
  );

/** Failing endpoints come last, so that they never crowd out working ones. */
export const dueEndpoints = preparedQuery(
  ({ now, due_before, limit }: Placeholders<{ now: number; due_before: number; limit: number }>) =>
    selectColumn(webhookEndpoints.id, lte(webhookEndpoints.due_at, due_before), isFree(now))
      .orderBy(isNotNull(webhookEndpoints.failing_since), asc(webhookEndpoints.due_at))
      .limit(limit),
);

const leaseEndpoint = preparedQuery(
  ({ id, now, lease_until }: Placeholders<{ id: number; now: number; lease_until: number }>) =>
    builder
      .update(webhookEndpoints)
      .set({ lease_until })
      .where(and(eq(webhookEndpoints.id, id), isFree(now)))
      .returning(),
);

/** The delivery is due at once if its last attempt was before the endpoint was repaired. */
function dueAt(id: Value<number>) {
  const { last_attempt_at, next_attempt_at } = webhookDeliveries;
  const repaired_at = scalar(selectColumn(webhookEndpoints.repaired_at, eq(webhookEndpoints.id, id)));
  return iif(lt(last_attempt_at, repaired_at), repaired_at, next_attempt_at);
}

/** A new one may be due slightly in the future, because another machine's clock may be ahead. A retry is never sent early. */
const dueDeliveries = preparedQuery(
  ({ id, now, due_before }: Placeholders<{ id: number; now: number; due_before: number }>) => {
    const { webhook_endpoint_id, event_id, attempts, next_attempt_at } = webhookDeliveries;
    return builder
      .select(dueColumns)
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, event_id))
      .where(
        and(
          eq(webhook_endpoint_id, id),
          isNotNull(next_attempt_at),
          lte(dueAt(id), due_before),
          or(eq(attempts, 0), lte(dueAt(id), now)),
        ),
      )
      .orderBy(asc(event_id))
      .limit(tuning.WEBHOOK_LANE_PORTION);
  },
);

/** A lane is identified by the lease that it set. */
const endpointInLane = rowsBy(webhookEndpoints, laneColumns, "id", "lease_until");

/** Leaves out the deliveries in `outcomes`, a JSON array, because their outcome is not recorded yet. */
const othersDueAt = preparedQuery(({ id, outcomes }: Placeholders<{ id: number; outcomes: string }>) => {
  const { webhook_endpoint_id, event_id, next_attempt_at } = webhookDeliveries;
  const ended = sql`(select ${jsonField("event_id")}, ${jsonField("was_due_at")} from ${jsonRows(outcomes)})`;
  return builder
    .select({ due_at: sql<number | null>`min(${dueAt(id)})`.as("due_at") })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhook_endpoint_id, id),
        isNotNull(next_attempt_at),
        sql`(${event_id}, ${next_attempt_at}) not in ${ended}`,
      ),
    );
});

/**
 * Skips a delivery that was made due again while it was sent. The endpoint's id comes from each outcome (in a JSON array): with
 * a single value, SQLite would scan all deliveries of the endpoint.
 */
const writeOutcomes = preparedQuery(({ outcomes }: Placeholders<{ outcomes: string }>) => {
  const { organization_id, webhook_endpoint_id, event_id, ...outcome } = jsonFields(webhookDeliveries);
  return builder
    .update(webhookDeliveries)
    .set(outcome)
    .from(jsonRows(outcomes))
    .where(
      hasValues(webhookDeliveries, {
        webhook_endpoint_id,
        event_id,
        next_attempt_at: jsonField("was_due_at"),
      }),
    );
});
