import { and, asc, eq, isNull, lte, or, sql } from "drizzle-orm";
import { builder, namedQuery, type Placeholders } from "../../database/queries.ts";
import { events, webhookDeliveries, webhookEndpoints } from "../../database/schema.ts";
import {
  DAY,
  WEBHOOK_DUE_PORTION,
  WEBHOOK_FAILING_FOR,
  WEBHOOK_LANE_PORTION,
  WEBHOOK_NUDGE_AHEAD,
} from "../../limits.ts";
import { dueColumns, targetColumns } from "./webhook_deliveries.sql.ts";

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

const DISABLED_AS_FAILING = `No delivery succeeded for ${WEBHOOK_FAILING_FOR / DAY} days`;

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
