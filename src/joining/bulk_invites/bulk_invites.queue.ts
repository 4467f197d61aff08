import * as z from "zod";
import type { Context } from "../../context.ts";
import { nudgeDeliveries } from "../../delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { isPassing } from "../../http/errors.ts";
import { logFault } from "../../http/log.ts";
import { id } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { endRows, findUncompleted } from "./bulk_invites.rows.ts";

/** D1 knows which rows are pending, so a lost, late or duplicate message does no harm. */
const bulkInviteMessage = lazily(() =>
  z.object({ schema: z.literal("bulk_invites/1"), bulk_invite_id: id() }),
);

type BulkInviteMessage = z.infer<ReturnType<typeof bulkInviteMessage>>;

/** Logs a failure: the cron sends messages as long as rows are pending. */
export async function queueBulkInvites(
  { bulkInviteQueue }: Pick<Context, "bulkInviteQueue">,
  bulkInvites: { id: number }[],
): Promise<void> {
  const messages = bulkInvites.map(({ id: bulk_invite_id }) => ({
    body: { schema: "bulk_invites/1", bulk_invite_id } satisfies BulkInviteMessage,
  }));
  await bulkInviteQueue.sendBatch(messages).catch((error) => logFault({ queue: "bulk-invites" }, error));
}

/** A fault of the service, such as a violated constraint, is retried until it is fixed, or the rows are erased. */
export const consumeBulkInvites = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, bulkInviteMessage(), async (context, { bulk_invite_id }) => {
    try {
      await endRows(context, bulk_invite_id);
    } catch (error) {
      if (!isPassing(error)) logFault({ bulk_invite_id }, error);
      throw error;
    }
    await nudgeInviteMails(context);
    await nudgeDeliveries(context.webhookQueue);
  });

/**
 * For the cron.
 *
 * @returns the number of messages sent
 */
export async function queueDueBulkInvites(context: Context): Promise<number> {
  const uncompleted = await findUncompleted(context);
  if (uncompleted.length > 0) await queueBulkInvites(context, uncompleted);
  return uncompleted.length;
}
