import { app } from "./app.ts";
import { consumeChores, runCron } from "./cron.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { consumeInviteMails } from "./resources/invite_mails/invite_mails.queue.ts";
import { consumeWebhookDeliveries } from "./resources/webhook_lanes/webhook_lanes.queue.ts";

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    // In a second environment, the names of queues end with its name.
    if (batch.queue.startsWith("chores")) return consumeChores(batch, env);
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    if (batch.queue.startsWith("invite-mails")) return consumeInviteMails(batch, env);
    return consumeBulkInvites(batch, env);
  },
  scheduled: ({ scheduledTime }, env) => runCron(env, scheduledTime),
} satisfies ExportedHandler<Env>;
