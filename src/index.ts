import { app } from "./app.ts";
import { type Context, openContext } from "./context.ts";
import { logFault } from "./http/log.ts";
import { deleteOldCodes } from "./resources/authorization_codes/authorization_codes.service.ts";
import { erasePersonalData, requeueLostRows } from "./resources/bulk_invites/bulk_invites.chores.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { deleteOldEvents } from "./resources/events/events.service.ts";
import { lapseExpiredInvites } from "./resources/invites/invites.service.ts";
import {
  consumeWebhookDeliveries,
  nudgeDeliveries,
  queueDueDeliveries,
} from "./resources/webhook_deliveries/webhook_deliveries.queue.ts";
import { deleteOldDeliveries } from "./resources/webhook_deliveries/webhook_deliveries.service.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    await consumeBulkInvites(batch, env);
    await nudgeDeliveries(env.WEBHOOKS);
  },
  async scheduled(_, env) {
    await runChores(env, [
      requeueLostRows,
      erasePersonalData,
      lapseExpiredInvites,
      deleteOldCodes,
      deleteOldEvents,
      deleteOldDeliveries,
    ]);
    // After those that may write events.
    await runChores(env, [queueDueDeliveries]);
  },
} satisfies ExportedHandler<Env>;

async function runChores(env: Env, chores: ((context: Context) => Promise<void>)[]) {
  const results = await Promise.allSettled(chores.map(async (chore) => chore(openContext(env, Date.now()))));
  for (const [n, result] of results.entries())
    if (result.status === "rejected") logFault({ chore: chores[n]?.name }, result.reason);
}
