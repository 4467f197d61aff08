import {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNull,
  lt,
  lte,
  max,
  min,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { coalesce, columnAs, hasValues, iif, scalar } from "../../database/expressions.ts";
import { excluded, insertSelect } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { eachOf, rowid, rowsInTurn, type Turn } from "../../database/turns.ts";
import type { OwnPath } from "../../http/wire.ts";
import { EVENTS_LOOKED_THROUGH, WEBHOOK_REDELIVERY_PORTION } from "../../limits.ts";
import { events } from "../events/events.table.ts";
import { webhookEndpoints } from "../webhook_endpoints/webhook_endpoints.table.ts";
import { webhookDeliveries } from "./webhook_deliveries.table.ts";

const { organization_id: _, webhook_endpoint_id: __, ...ownColumns } = getTableColumns(webhookDeliveries);

export const deliveryColumns = { ...ownColumns, event_type: columnAs(events.type, "event_type") };

export const deliveriesBefore = preparedQuery(
  ({ organization_id, id, before, limit }: Placeholders<OwnPath & { before: number; limit: number }>) =>
    builder
      .select(deliveryColumns)
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.event_id))
      .where(
        and(
          hasValues(webhookDeliveries, { webhook_endpoint_id: id, organization_id }),
          lt(webhookDeliveries.event_id, before),
        ),
      )
      .orderBy(desc(webhookDeliveries.event_id))
      .limit(limit),
);

interface Redelivery extends OwnPath {
  after: number;
  /** A JSON array; null for all types. */
  event_types: string | null;
  created_at: number;
  events_since: number;
}

/** null if the request reaches the end. */
const lastLookedThrough = ({ organization_id, after }: Placeholders<Redelivery>) =>
  scalar(
    selectColumn(events.id, eq(events.organization_id, organization_id), gt(events.id, after))
      .orderBy(asc(events.id))
      .limit(1)
      .offset(EVENTS_LOOKED_THROUGH - 1),
  );

/** Some events have no delivery yet, because the endpoint was inactive when they occurred. */
function eventsToRedeliver(redelivery: Placeholders<Redelivery>) {
  const { organization_id, id, after, event_types, created_at, events_since } = redelivery;
  const delivery = selectColumn(
    webhookDeliveries.event_id,
    hasValues(webhookDeliveries, { webhook_endpoint_id: id, event_id: events.id }),
  );
  return selectColumn(
    events.id,
    eq(events.organization_id, organization_id),
    gt(events.id, after),
    lte(events.id, coalesce(lastLookedThrough(redelivery), Number.MAX_SAFE_INTEGER)),
    gte(events.created_at, events_since),
    or(isNull(event_types), inArray(events.type, jsonValues(event_types))),
    or(gte(events.created_at, created_at), exists(delivery)),
  )
    .orderBy(asc(events.id))
    .limit(WEBHOOK_REDELIVERY_PORTION)
    .as("again");
}

export const redeliverEvents = preparedQuery((redelivery: Placeholders<Redelivery & { now: number }>) => {
  const again = eventsToRedeliver(redelivery);
  return insertSelect(
    webhookDeliveries,
    {
      organization_id: redelivery.organization_id,
      webhook_endpoint_id: redelivery.id,
      event_id: again.id,
      attempts: 0,
      last_attempt_at: null,
      response_status: null,
      error: null,
      next_attempt_at: redelivery.now,
    },
    { from: again },
  ).onConflictDoUpdate({
    target: [webhookDeliveries.webhook_endpoint_id, webhookDeliveries.event_id],
    set: { attempts: 0, next_attempt_at: excluded(webhookDeliveries.next_attempt_at) },
  });
});

/** null at the end. */
export const redeliveredEvents = preparedQuery((redelivery: Placeholders<Redelivery>) => {
  const again = eventsToRedeliver(redelivery);
  const isFull = sql`count(*) = ${WEBHOOK_REDELIVERY_PORTION}`.inlineParams();
  return builder
    .select({
      count: count().as("count"),
      last: sql<number | null>`${iif(isFull, max(again.id), lastLookedThrough(redelivery))}`.as("last"),
    })
    .from(again);
});

/** Each endpoint with deliveries gets a turn. Does not read the deliveries that stay. */
export const deleteOrphanedDeliveries = preparedQuery((turn: Placeholders<Turn>) => {
  const { webhook_endpoint_id, event_id } = webhookDeliveries;
  const orphansOf = (endpoint_id: SQL) => {
    const organization_id = selectColumn(
      webhookEndpoints.organization_id,
      eq(webhookEndpoints.id, endpoint_id),
    );
    const oldestEvent = builder
      .select({ id: min(events.id) })
      .from(events)
      .where(eq(events.organization_id, organization_id));
    return builder
      .select({ rowid: rowid.as("rowid") })
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhook_endpoint_id, endpoint_id),
          // Without the endpoint, or with no events at all, every delivery is an orphan.
          lt(event_id, coalesce(oldestEvent, Number.MAX_SAFE_INTEGER)),
        ),
      )
      .orderBy(asc(event_id));
  };
  return builder
    .delete(webhookDeliveries)
    .where(inArray(rowid, rowsInTurn(webhookDeliveries, eachOf(webhook_endpoint_id), orphansOf, turn)))
    .returning({ event_id });
});
