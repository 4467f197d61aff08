import { and, desc, eq, lt, sql } from "drizzle-orm";
import type { EventType } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, type Row } from "../../database/queries.ts";
import { events, webhookDeliveries, webhookEndpoints } from "../../database/schema.ts";
import { CRON_PORTION } from "../../limits.ts";
import { type OwnEndpoint, ownEndpoint } from "../webhook_endpoints/webhook_endpoints.sql.ts";

export const deliveryColumns = {
  event_id: webhookDeliveries.event_id,
  event_type: sql<EventType>`${events.type}`.as("event_type"),
  attempts: webhookDeliveries.attempts,
  last_attempt_at: webhookDeliveries.last_attempt_at,
  response_status: webhookDeliveries.response_status,
  error: webhookDeliveries.error,
  next_attempt_at: webhookDeliveries.next_attempt_at,
};

export const targetColumns = {
  id: webhookEndpoints.id,
  organization_id: webhookEndpoints.organization_id,
  url: webhookEndpoints.url,
  secret: webhookEndpoints.secret,
  previous_secrets: webhookEndpoints.previous_secrets,
  service_url: webhookEndpoints.service_url,
  failing_since: webhookEndpoints.failing_since,
  message_at: webhookEndpoints.message_at,
};

/** An endpoint with what its lane needs to know. */
export type LaneEndpoint = Row<typeof targetColumns>;

export const dueColumns = {
  event_id: webhookDeliveries.event_id,
  attempts: webhookDeliveries.attempts,
  next_attempt_at: webhookDeliveries.next_attempt_at,
  type: events.type,
  created_at: events.created_at,
  data: events.data,
};

export type DueDelivery = Row<typeof dueColumns>;

export const targetOf = namedQuery((endpoint: Placeholders<OwnEndpoint>) =>
  builder.select(targetColumns).from(webhookEndpoints).where(ownEndpoint(endpoint)),
);

/** The deliveries of an endpoint, newest first. */
export const deliveriesBefore = namedQuery(
  (asked: Placeholders<{ organization_id: number; id: number; before: number; limit: number }>) =>
    builder
      .select(deliveryColumns)
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.event_id))
      .where(
        and(
          eq(webhookDeliveries.webhook_endpoint_id, asked.id),
          eq(webhookDeliveries.organization_id, asked.organization_id),
          lt(webhookDeliveries.event_id, asked.before),
        ),
      )
      .orderBy(desc(webhookDeliveries.event_id))
      .limit(asked.limit),
);

/**
 * Deletes a portion of the deliveries whose endpoint or event is deleted. It goes from one endpoint that has deliveries
 * to the next in the index, and does not read those that stay.
 */
export const deleteOrphanedDeliveries = namedQuery((_: Placeholders<object>) => {
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
