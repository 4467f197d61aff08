import { and, asc, desc, eq, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { EventType } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, type Row } from "../../database/queries.ts";
import { events, webhookDeliveries, webhookEndpoints } from "../../database/schema.ts";
import {
  CRON_PORTION,
  DAY,
  WEBHOOK_DUE_PORTION,
  WEBHOOK_FAILING_FOR,
  WEBHOOK_LANE_PORTION,
  WEBHOOK_NUDGE_AHEAD,
} from "../../limits.ts";
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

const targetColumns = {
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

const dueColumns = {
  event_id: webhookDeliveries.event_id,
  attempts: webhookDeliveries.attempts,
  next_attempt_at: webhookDeliveries.next_attempt_at,
  type: events.type,
  created_at: events.created_at,
  data: events.data,
};

export type DueDelivery = Row<typeof dueColumns>;

/** True for the endpoints that no lane has. */
const isFree = (now: Placeholders<{ now: number }>["now"]) =>
  or(isNull(webhookEndpoints.lease_until), lte(webhookEndpoints.lease_until, now));

/** The endpoints that have something to send. However many are dead, those that are not come first. */
export const dueEndpoints = namedQuery(
  ({ now, due_before }: Placeholders<{ now: number; due_before: number }>) =>
    builder
      .select({ id: webhookEndpoints.id })
      .from(webhookEndpoints)
      .where(and(webhookEndpoints.is_active, lte(webhookEndpoints.due_at, due_before), isFree(now)))
      .orderBy(sql`${webhookEndpoints.failing_since} is not null`, asc(webhookEndpoints.due_at))
      .limit(WEBHOOK_DUE_PORTION),
);

/** Of two lanes that want an endpoint, only one gets it. */
export const leaseEndpoint = namedQuery(
  ({ id, now, lease_until }: Placeholders<{ id: number; now: number; lease_until: number }>) =>
    builder
      .update(webhookEndpoints)
      .set({ lease_until: sql`${lease_until}` })
      .where(and(eq(webhookEndpoints.id, id), webhookEndpoints.is_active, isFree(now)))
      .returning(targetColumns),
);

export const targetOf = namedQuery((endpoint: Placeholders<OwnEndpoint>) =>
  builder.select(targetColumns).from(webhookEndpoints).where(ownEndpoint(endpoint)),
);

/**
 * The next deliveries of an endpoint, in the order of the events. New ones are due although the clock of the machine
 * that wrote the event may be ahead; those that failed are not sent again too early.
 */
export const dueDeliveries = namedQuery(
  ({ id, now, due_before }: Placeholders<{ id: number; now: number; due_before: number }>) => {
    const { webhook_endpoint_id, event_id, attempts, next_attempt_at } = webhookDeliveries;
    return builder
      .select(dueColumns)
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, event_id))
      .where(
        and(
          eq(webhook_endpoint_id, id),
          lte(next_attempt_at, due_before),
          or(eq(attempts, 0), lte(next_attempt_at, now)),
        ),
      )
      .orderBy(asc(event_id))
      .limit(WEBHOOK_LANE_PORTION);
  },
);

/** What became of a delivery. It is written only if `due_at` is still when it is due: otherwise it was asked for again. */
export interface Result {
  webhook_endpoint_id: number;
  event_id: number;
  due_at: number | null;
  attempts: number;
  last_attempt_at: number;
  response_status: number | null;
  error: string | null;
  next_attempt_at: number | null;
}

const ofResult = (name: keyof Result) => sql`item.value ->> ${sql.raw(`'${name}'`)}`;

/** `results` is JSON text. */
export const recordResults = namedQuery(({ results }: Placeholders<{ results: string }>) =>
  builder
    .update(webhookDeliveries)
    .set({
      attempts: ofResult("attempts"),
      last_attempt_at: ofResult("last_attempt_at"),
      response_status: ofResult("response_status"),
      error: ofResult("error"),
      next_attempt_at: ofResult("next_attempt_at"),
    })
    .from(sql`json_each(${results}) as item`)
    .where(
      and(
        eq(webhookDeliveries.webhook_endpoint_id, ofResult("webhook_endpoint_id")),
        eq(webhookDeliveries.event_id, ofResult("event_id")),
        eq(webhookDeliveries.next_attempt_at, ofResult("due_at")),
      ),
    ),
);

export const DISABLED_AS_GONE = "The endpoint answered 410 (Gone)";

export const DISABLED_AS_FAILING = `No delivery succeeded for ${WEBHOOK_FAILING_FOR / DAY} days`;

/** How a lane ended. */
interface LaneEnd {
  id: number;
  /** What the lane set, by which it is known. */
  lease_until: number;
  /** Where it sent. What was learnt of another URL says nothing of this one. */
  url: string;
  /** Until when the endpoint is left in peace. */
  paused_until: number | null;
  /** Whether anything was delivered. */
  delivered: boolean;
  /** When the first attempt after that failed. */
  failed_at: number | null;
  /** Whether the endpoint wants no more. */
  is_gone: boolean;
  failing_before: number;
  now: number;
}

const ofLane = ({ id, lease_until }: Placeholders<Pick<LaneEnd, "id" | "lease_until">>) =>
  and(eq(webhookEndpoints.id, id), eq(webhookEndpoints.lease_until, lease_until));

/** Selects the endpoint while the lane may go on: it is not deleted, deactivated or moved to another URL. */
export const endpointInLane = namedQuery((lane: Placeholders<Pick<LaneEnd, "id" | "lease_until" | "url">>) =>
  builder
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(and(ofLane(lane), webhookEndpoints.is_active, eq(webhookEndpoints.url, lane.url))),
);

/** Sets when the next delivery is due. It comes before `endLane`. */
export const updateDue = namedQuery((lane: Placeholders<Pick<LaneEnd, "id" | "lease_until">>) => {
  const firstPending = builder
    .select({ due_at: sql`min(${webhookDeliveries.next_attempt_at})`.as("due_at") })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.webhook_endpoint_id, webhookEndpoints.id),
        sql`${webhookDeliveries.next_attempt_at} is not null`,
      ),
    );
  return builder
    .update(webhookEndpoints)
    .set({ due_at: sql`${firstPending}` })
    .where(ofLane(lane));
});

/**
 * Gives an endpoint back, and disables it if it must be. A message is due when something is, in whole seconds. One that
 * comes in time stays: if each lane sent another, they would multiply.
 */
export const endLane = namedQuery((end: Placeholders<LaneEnd>) => {
  const { failing_since, is_active, disabled_reason, url, updated_at, due_at, message_at } = webhookEndpoints;
  const wait = sql`cast((max(${due_at}, coalesce(${end.paused_until}, 0), ${end.now}) - ${end.now} + 999) / 1000 as integer) * 1000`;
  const message = sql`case when ${message_at} > ${end.now} and ${message_at} <= ${end.now} + ${wait} then ${message_at}
    when ${wait} < ${WEBHOOK_NUDGE_AHEAD} then ${end.now} + ${wait} end`;
  const failing = sql`iif(${end.delivered}, ${end.failed_at}, coalesce(${failing_since}, ${end.failed_at}))`;
  const reason = sql`case when ${url} = ${end.url} and ${is_active} then
    case when ${end.is_gone} then ${DISABLED_AS_GONE}
      when ${failing} <= ${end.failing_before} then ${DISABLED_AS_FAILING} end end`;
  return builder
    .update(webhookEndpoints)
    .set({
      lease_until: sql`${end.paused_until}`,
      message_at: message,
      failing_since: sql`iif(${url} = ${end.url}, ${failing}, ${failing_since})`,
      is_active: sql`${is_active} and (${reason}) is null`,
      disabled_reason: sql`coalesce(${reason}, ${disabled_reason})`,
      updated_at: sql`iif((${reason}) is null, ${updated_at}, ${end.now})`,
    })
    .where(ofLane(end))
    .returning({ due_at, message_at, is_active, disabled_reason });
});

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
