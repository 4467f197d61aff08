import { and, asc, count, eq, exists, gt, gte, not, notExists, or, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, runAll, runBatch, runFirst } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { events, webhookDeliveries, webhookEndpoints } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { EVENTS_KEPT_FOR, WEBHOOK_REDELIVERY_PORTION } from "../../limits.ts";
import { administeredOrganization } from "../roles/roles.schemas.ts";
import {
  endpointById,
  endpointWhere,
  type OwnEndpoint,
  ownEndpoint,
} from "../webhook_endpoints/webhook_endpoints.sql.ts";
import type { Attempt } from "./webhook_deliveries.merge.ts";
import { aPing, type DeliveriesQuery, type Delivery } from "./webhook_deliveries.schemas.ts";
import { sendWebhook } from "./webhook_deliveries.sending.ts";
import { deleteOrphanedDeliveries, deliveriesBefore, targetOf } from "./webhook_deliveries.sql.ts";

const endpointMissing = () => notFound("Webhook endpoint");

/** The next deliveries before an event, newest first, and the event after which to ask next. */
export async function listDeliveries(
  { db, caller }: ClientContext,
  id: number,
  { after, per_page }: DeliveriesQuery,
): Promise<{ deliveries: Delivery[]; next_after: number | null }> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  const [[endpoint], deliveries] = await runBatch(db, [
    endpointById({ organization_id, id }),
    deliveriesBefore({ organization_id, id, before: after ?? Number.MAX_SAFE_INTEGER, limit: per_page }),
  ]);
  if (!endpoint) throw endpointMissing();
  return { deliveries, next_after: deliveries.at(-1)?.event_id ?? after ?? null };
}

/** Sends something that is no event, once, and returns what came of it. An inactive endpoint can be tried so too. */
export async function pingWebhookEndpoint({ db, caller, now }: ClientContext, id: number): Promise<Attempt> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  const target = await runFirst(db, targetOf({ organization_id, id }));
  if (!target) throw endpointMissing();
  return sendWebhook(target, aPing(now));
}

/** Makes a portion of the events after an id due again, even if they were delivered or given up. */
export async function redeliver(
  { db, caller, now }: ClientContext,
  id: number,
  after: number,
): Promise<{ redelivered_count: number; next_after: number | null }> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  const created_since = now - EVENTS_KEPT_FOR;
  const { count, last } = await redeliverEvents(db, { organization_id, id, after, created_since, now });
  return { redelivered_count: count, next_after: count === WEBHOOK_REDELIVERY_PORTION ? last : null };
}

interface Redelivery extends OwnEndpoint {
  after: number;
  created_since: number;
  now: number;
}

const redeliverEvents = namedWrite((asked: Placeholders<Redelivery>) => {
  const again = eventsToRedeliver(asked);
  return {
    rules: [
      { broken: notExists(endpointWhere(ownEndpoint(asked))), refusal: endpointMissing },
      {
        broken: exists(endpointWhere(and(ownEndpoint(asked), not(webhookEndpoints.is_active)))),
        refusal: () => unprocessable("The webhook endpoint is not active: activate it first"),
      },
    ],
    statements: [
      insertSelect(
        webhookDeliveries,
        {
          organization_id: asked.organization_id,
          webhook_endpoint_id: asked.id,
          event_id: again.id,
          next_attempt_at: asked.now,
        },
        sql`from ${again} where true`,
      ).onConflictDoUpdate({
        target: [webhookDeliveries.webhook_endpoint_id, webhookDeliveries.event_id],
        set: { attempts: 0, next_attempt_at: sql`excluded.next_attempt_at` },
      }),
      builder
        .select({ count: count().as("count"), last: sql<number | null>`max(${again.id})`.as("last") })
        .from(again),
    ],
  };
});

/**
 * The first events after an id that the endpoint wants: those since it was created. Some have no delivery yet, because
 * the endpoint was not active when they came.
 */
function eventsToRedeliver({ organization_id, id, after, created_since }: Placeholders<Redelivery>) {
  const { event_types, created_at } = webhookEndpoints;
  const wanted = sql`(${event_types} is null or
    exists (select 1 from json_each(${event_types}) as wanted where wanted.value = ${events.type}))`;
  const delivery = builder
    .select({ event_id: webhookDeliveries.event_id })
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.webhook_endpoint_id, id), eq(webhookDeliveries.event_id, events.id)));
  return builder
    .select({ id: events.id })
    .from(webhookEndpoints)
    .innerJoin(events, eq(events.organization_id, webhookEndpoints.organization_id))
    .where(
      and(
        ownEndpoint({ organization_id, id }),
        gt(events.id, after),
        gte(events.created_at, created_since),
        wanted,
        or(gte(events.created_at, created_at), exists(delivery)),
      ),
    )
    .orderBy(asc(events.id))
    .limit(WEBHOOK_REDELIVERY_PORTION)
    .as("again");
}

/**
 * One run deletes a portion.
 *
 * @returns how many
 */
export async function deleteOldDeliveries({ db }: Context): Promise<number> {
  return (await runAll(db, deleteOrphanedDeliveries({}))).length;
}
