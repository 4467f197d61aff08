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
  max,
  or,
  sql,
} from "drizzle-orm";
import type { EventType } from "../../database/enums.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { events, webhookDeliveries, webhookEndpoints } from "../../database/schema.ts";
import { CRON_PORTION, WEBHOOK_REDELIVERY_PORTION } from "../../limits.ts";
import type { OwnEndpoint } from "../webhook_endpoints/webhook_endpoints.sql.ts";

const { organization_id: _, webhook_endpoint_id: __, ...ownColumns } = getTableColumns(webhookDeliveries);

export const deliveryColumns = {
  ...ownColumns,
  event_type: sql<EventType>`${events.type}`.as("event_type"),
};

/** The deliveries of an endpoint, newest first. */
export const deliveriesBefore = preparedQuery(
  (page: Placeholders<{ organization_id: number; id: number; before: number; limit: number }>) =>
    builder
      .select(deliveryColumns)
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.event_id))
      .where(
        and(
          eq(webhookDeliveries.webhook_endpoint_id, page.id),
          eq(webhookDeliveries.organization_id, page.organization_id),
          lt(webhookDeliveries.event_id, page.before),
        ),
      )
      .orderBy(desc(webhookDeliveries.event_id))
      .limit(page.limit),
);

/** Which events are to be sent to an endpoint again. */
interface Redelivery extends OwnEndpoint {
  after: number;
  /** The types that the endpoint wants, as a JSON array, or null for all. */
  event_types: string | null;
  /** When the endpoint was created. */
  created_at: number;
  events_since: number;
}

/**
 * The first events after an id that an endpoint wants: those since it was created. Some have no delivery yet, because it was
 * not active when they came.
 */
function eventsToRedeliver(redelivery: Placeholders<Redelivery>) {
  const { organization_id, id, after, event_types, created_at, events_since } = redelivery;
  const delivery = builder
    .select({ event_id: webhookDeliveries.event_id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.webhook_endpoint_id, id), eq(webhookDeliveries.event_id, events.id)));
  return builder
    .select({ id: events.id })
    .from(events)
    .where(
      and(
        eq(events.organization_id, organization_id),
        gt(events.id, after),
        gte(events.created_at, events_since),
        or(isNull(event_types), inArray(events.type, jsonValues(event_types))),
        or(gte(events.created_at, created_at), exists(delivery)),
      ),
    )
    .orderBy(asc(events.id))
    .limit(WEBHOOK_REDELIVERY_PORTION)
    .as("again");
}

/** Makes events due again, even if they were delivered or given up. */
export const redeliverEvents = preparedQuery((redelivery: Placeholders<Redelivery & { now: number }>) => {
  const again = eventsToRedeliver(redelivery);
  return insertSelect(
    webhookDeliveries,
    {
      organization_id: redelivery.organization_id,
      webhook_endpoint_id: redelivery.id,
      event_id: again.id,
      next_attempt_at: redelivery.now,
    },
    sql`from ${again} where true`,
  ).onConflictDoUpdate({
    target: [webhookDeliveries.webhook_endpoint_id, webhookDeliveries.event_id],
    set: { attempts: 0, next_attempt_at: sql`excluded.next_attempt_at` },
  });
});

/** How many events `redeliverEvents` makes due, and the last. */
export const redeliveredEvents = preparedQuery((redelivery: Placeholders<Redelivery>) => {
  const again = eventsToRedeliver(redelivery);
  return builder.select({ count: count().as("count"), last: max(again.id).as("last") }).from(again);
});

/**
 * Deletes a portion of the deliveries whose endpoint or event is deleted. It goes from one endpoint that has deliveries
 * to the next in the index, and does not read those that stay.
 */
export const deleteOrphanedDeliveries = preparedQuery((_: Placeholders<object>) => {
  const { webhook_endpoint_id, event_id } = webhookDeliveries;
  const next = (condition: ReturnType<typeof sql>) =>
    sql`select min(${webhook_endpoint_id}) from ${webhookDeliveries} ${condition}`;
  const oldestEvent = sql`coalesce((select min(${events.id}) from ${events}), 9e15)`;
  return builder
    .delete(webhookDeliveries)
    .where(
      sql`(${webhook_endpoint_id}, ${event_id}) in (
      with recursive endpoint (id) as (
        select (${next(sql``)})
        union all select (${next(sql`where ${webhook_endpoint_id} > endpoint.id`)}) from endpoint where id is not null
      )
      select d.webhook_endpoint_id, d.event_id from endpoint
      cross join ${webhookDeliveries} as d on d.webhook_endpoint_id = endpoint.id and d.event_id <
        iif(exists (select 1 from ${webhookEndpoints} where ${webhookEndpoints.id} = endpoint.id), ${oldestEvent}, 9e15)
      limit ${CRON_PORTION})`,
    )
    .returning({ event_id });
});
