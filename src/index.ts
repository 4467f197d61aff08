import { app } from "./app.ts";
import { consumeChores, runCron } from "./cron.ts";
import { consumeBulkInvites } from "./resources/bulk_invite_chunks/bulk_invite_chunks.queue.ts";
import { consumeInviteMails } from "./resources/invite_mails/invite_mails.queue.ts";
import { consumeWebhookDeliveries, nudgeDeliveries } from "./resources/webhook_lanes/webhook_lanes.queue.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    // In a second environment, the names of queues end with its name.
    if (batch.queue.startsWith("chores")) return consumeChores(batch, env);
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    const consume = batch.queue.startsWith("invite-mails") ? consumeInviteMails : consumeBulkInvites;
    return consume(batch, env, ({ WEBHOOKS }) => nudgeDeliveries(WEBHOOKS));
  },
  scheduled: ({ scheduledTime }, env) => runCron(env, scheduledTime),
} satisfies ExportedHandler<Env>;
