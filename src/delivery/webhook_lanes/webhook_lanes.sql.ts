import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  notInArray,
  or,
  sql,
} from "drizzle-orm";
import { hasValues, iif, scalar } from "../../database/expressions.ts";
import { jsonFields, jsonRows } from "../../database/insert.ts";
import { livesHere } from "../../database/moves.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Row,
  type Value,
} from "../../database/queries.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { isServed } from "../../organization/organizations/organizations.sql.ts";
import { WEBHOOK_LANE_PORTION } from "../../tuning.ts";
import { events } from "../events/events.table.ts";
import { webhookDeliveries } from "../webhook_deliveries/webhook_deliveries.table.ts";
import { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";

const { secret: _, previous_secrets: __, ...laneColumns } = getTableColumns(webhookEndpoints);

/** The columns of webhook_deliveries here are all in an index. */
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

const isUnleased = (now: Placeholders<{ now: number }>["now"]) =>
  or(isNull(webhookEndpoints.lease_until), lte(webhookEndpoints.lease_until, now));

/** Endpoints with due deliveries. Failing ones come last, so that they never crowd out working ones. */
export const dueEndpoints = preparedQuery(
  ({ now, due_before, limit }: Placeholders<{ now: number; due_before: number; limit: number }>) =>
    selectColumn(
      webhookEndpoints.id,
      webhookEndpoints.is_active,
      lte(webhookEndpoints.due_at, due_before),
      isUnleased(now),
      livesHere(webhookEndpoints.organization_id),
      isServed(webhookEndpoints.organization_id),
    )
      .orderBy(isNotNull(webhookEndpoints.failing_since), asc(webhookEndpoints.due_at))
      .limit(limit),
);

/** Only one of several concurrent lanes gets the endpoint. */
export const leaseEndpoint = preparedQuery(
  ({ id, now, lease_until }: Placeholders<{ id: number; now: number; lease_until: number }>) =>
    builder
      .update(webhookEndpoints)
      .set({ lease_until })
      .where(
        and(
          eq(webhookEndpoints.id, id),
          webhookEndpoints.is_active,
          isUnleased(now),
          livesHere(webhookEndpoints.organization_id),
          isServed(webhookEndpoints.organization_id),
        ),
      )
      .returning(),
);

/** When a delivery of an endpoint is due: at once if its last attempt was before the endpoint was repaired. */
function dueAt(id: Value<number>) {
  const { last_attempt_at, next_attempt_at } = webhookDeliveries;
  const repaired_at = scalar(selectColumn(webhookEndpoints.repaired_at, eq(webhookEndpoints.id, id)));
  return iif(lt(last_attempt_at, repaired_at), repaired_at, next_attempt_at);
}

/**
 * The next deliveries of an endpoint, in the order of their events. A new one may be due slightly in the future, because
 * the clock of the machine that wrote the event may be ahead. A retry is never sent early.
 */
export const dueDeliveries = preparedQuery(
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
      .limit(WEBHOOK_LANE_PORTION);
  },
);

/** A lane is identified by the lease that it set. */
export const endpointInLane = rowsBy(webhookEndpoints, laneColumns, "id", "lease_until");

interface DeliveriesOfEvents {
  id: number;
  /** A JSON array. */
  event_ids: string;
}

export const deliveriesInLane = preparedQuery(({ id, event_ids }: Placeholders<DeliveriesOfEvents>) =>
  builder
    .select({ event_id: webhookDeliveries.event_id, next_attempt_at: webhookDeliveries.next_attempt_at })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.webhook_endpoint_id, id),
        inArray(webhookDeliveries.event_id, jsonValues(event_ids)),
      ),
    )
    .orderBy(asc(webhookDeliveries.event_id)),
);

export const othersInLane = preparedQuery(({ id, event_ids }: Placeholders<DeliveriesOfEvents>) =>
  builder
    .select({ due_at: sql<number | null>`min(${dueAt(id)})`.as("due_at") })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.webhook_endpoint_id, id),
        isNotNull(webhookDeliveries.next_attempt_at),
        notInArray(webhookDeliveries.event_id, jsonValues(event_ids)),
      ),
    ),
);

const { organization_id, webhook_endpoint_id, event_id, ...outcome } = jsonFields(webhookDeliveries);

/**
 * The endpoint's id comes from each row: with a single value, SQLite would scan all deliveries of the endpoint.
 *
 * @param outcomes a JSON array of `Outcome`
 */
export const writeOutcomes = preparedQuery(({ outcomes }: Placeholders<{ outcomes: string }>) =>
  builder
    .update(webhookDeliveries)
    .set(outcome)
    .from(jsonRows(outcomes))
    .where(hasValues(webhookDeliveries, { webhook_endpoint_id, event_id })),
);
