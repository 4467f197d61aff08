import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { type EventType, eventTypesOf } from "../../database/enums.ts";
import { runBatch } from "../../database/queries.ts";
import { quietSince } from "../../database/quiet.ts";
import { workOff } from "../../database/turns.ts";
import { administeredOrganization } from "../../http/roles.ts";
import { EVENTS_KEPT_FOR } from "../../lifetimes.ts";
import * as refusals from "../webhook_endpoints/webhook_endpoints.refusals.ts";
import { endpointById, endpointWithSecrets } from "../webhook_endpoints/webhook_endpoints.sql.ts";
import { type DeliveriesQuery, type Delivery, newPing, newTest } from "./webhook_deliveries.schemas.ts";
import { sendWebhook } from "./webhook_deliveries.sending.ts";
import * as sql from "./webhook_deliveries.sql.ts";

/** Newest first. */
export async function listDeliveries(
  { db, caller }: ClientContext,
  id: number,
  { after, per_page }: DeliveriesQuery,
): Promise<{ deliveries: Delivery[]; next_after: number | null }> {
  const organization_id = administeredOrganization(caller);
  const [[endpoint], deliveries] = await runBatch(db, [
    endpointById({ organization_id, id }),
    sql.deliveriesBefore({ organization_id, id, before: after ?? Number.MAX_SAFE_INTEGER, limit: per_page }),
  ]);
  if (!endpoint) throw refusals.webhookEndpointNotFound();
  return { deliveries, next_after: deliveries.at(-1)?.event_id ?? after ?? null };
}

/** Even to an inactive endpoint. */
export async function pingWebhookEndpoint(context: ClientContext, id: number, type?: EventType) {
  const { db, caller, now } = context;
  const organization_id = administeredOrganization(caller);
  const [[endpoint], [quiet]] = await runBatch(db, [
    endpointWithSecrets({ organization_id, id }),
    quietSince({}),
  ]);
  if (!endpoint) throw refusals.webhookEndpointNotFound();
  if (quiet) throw refusals.webhooksQuiet();
  return sendWebhook(context, endpoint, type ? newTest(type) : newPing(now));
}

export async function redeliver(context: ClientContext, id: number, after: number) {
  const { caller, now } = context;
  const organization_id = administeredOrganization(caller);
  const { count, last } = await decideAndWrite(
    context,
    { endpoint: endpointById({ organization_id, id }), quiet: quietSince({}) },
    ({ endpoint: [endpoint], quiet: [quiet] }) => {
      if (!endpoint) throw refusals.webhookEndpointNotFound();
      if (quiet) throw refusals.webhooksQuiet();
      if (!endpoint.is_active) throw refusals.endpointNotActive();
      const { event_types, created_at } = endpoint;
      const redelivery = {
        organization_id,
        id,
        after,
        event_types: event_types && JSON.stringify(eventTypesOf(event_types)),
        created_at,
        events_since: now - EVENTS_KEPT_FOR,
      };
      return { writes: [sql.redeliverEvents({ ...redelivery, now }), sql.redeliveredEvents(redelivery)] };
    },
  );
  return { redelivered_count: count, next_after: last };
}

export const deleteOldDeliveries = ({ db }: Context): Promise<number> =>
  workOff(db, sql.deleteOrphanedDeliveries);
