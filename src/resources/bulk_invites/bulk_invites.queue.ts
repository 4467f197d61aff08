import * as z from "zod";
import type { Context } from "../../context.ts";
import { logFault } from "../../http/log.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge } from "../../queues/nudge.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { nudgeDeliveries } from "../webhook_lanes/webhook_lanes.queue.ts";
import { endDueRows, findDueBulkInvites } from "./bulk_invites.rows.ts";

/** Rows may be pending. D1 knows which: a message that is lost, late or delivered twice does no harm. */
const bulkInviteMessage = lazily(() => z.object({ schema: z.literal("bulk_invites/1") }));

const MESSAGE: z.infer<ReturnType<typeof bulkInviteMessage>> = { schema: "bulk_invites/1" };

/** Sends a message: rows may have been stored. */
export const nudgeBulkInvites = ({ bulkInviteQueue }: Pick<Context, "bulkInviteQueue">): Promise<void> =>
  nudge(bulkInviteQueue, (delay) => sendBulkInviteMessage(bulkInviteQueue, Math.ceil(delay / 1000)));

/** If it fails, the cron sends a message while rows are due. */
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
 * For the cron: sends a message if rows are due, whatever became of the message for them.
 *
 * @returns how many messages were sent
 */
export async function queueDueBulkInvites(context: Context): Promise<number> {
  if ((await findDueBulkInvites(context, 1)).length === 0) return 0;
  await sendBulkInviteMessage(context.bulkInviteQueue, 0);
  return 1;
}
