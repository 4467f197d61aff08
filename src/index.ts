import { app } from "./app.ts";
import { consumeChores, runCron } from "./cron.ts";
import { consumeWebhookDeliveries } from "./delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { consumeBulkInvites } from "./joining/bulk_invites/bulk_invites.queue.ts";
import { consumeInviteMails } from "./joining/invite_mails/invite_mails.queue.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    // In a second environment, queue names end with the environment's name.
    if (batch.queue.startsWith("chores")) return consumeChores(batch, env);
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    if (batch.queue.startsWith("invite-mails")) return consumeInviteMails(batch, env);
    return consumeBulkInvites(batch, env);
  },
  scheduled: ({ scheduledTime }, env) => runCron(env, scheduledTime),
} satisfies ExportedHandler<Env>;
