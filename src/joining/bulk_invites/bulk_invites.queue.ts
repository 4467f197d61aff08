import * as z from "zod";
import type { Context } from "../../context.ts";
import { nudgeDeliveries } from "../../delivery/webhook_lanes/webhook_lanes.queue.ts";
import { logFault } from "../../http/log.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge } from "../../queues/nudge.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { endDueRows, findDueBulkInvites } from "./bulk_invites.rows.ts";

/** Rows may be pending. D1 knows which, so a lost, late or duplicate message does no harm. */
const bulkInviteMessage = lazily(() => z.object({ schema: z.literal("bulk_invites/1") }));

const MESSAGE: z.infer<ReturnType<typeof bulkInviteMessage>> = { schema: "bulk_invites/1" };

export const nudgeBulkInvites = ({ bulkInviteQueue }: Pick<Context, "bulkInviteQueue">): Promise<void> =>
  nudge(bulkInviteQueue, (delay) => sendBulkInviteMessage(bulkInviteQueue, Math.ceil(delay / 1000)));

/** Logs a failure: the cron sends a message as long as rows are due. */
async function sendBulkInviteMessage(queue: Queue, delaySeconds: number): Promise<void> {
  await queue.send(MESSAGE, { delaySeconds }).catch((error) => logFault({ queue: "bulk-invites" }, error));
}

export const consumeBulkInvites = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, bulkInviteMessage(), async (context) => {
    await endDueRows(context, (delay) => sendBulkInviteMessage(context.bulkInviteQueue, delay));
    await nudgeInviteMails(context);
    await nudgeDeliveries(context.webhookQueue);
  });

/**
 * For the cron: sends a message if rows are due, in case their message was lost.
 *
 * @returns the number of messages sent
 */
export async function queueDueBulkInvites(context: Context): Promise<number> {
  if ((await findDueBulkInvites(context, 1)).length === 0) return 0;
  await sendBulkInviteMessage(context.bulkInviteQueue, 0);
  return 1;
}
