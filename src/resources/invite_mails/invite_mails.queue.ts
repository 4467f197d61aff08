import * as z from "zod";
import type { Context } from "../../context.ts";
import { logFault } from "../../http/log.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge } from "../../queues/nudge.ts";
import { nudgeDeliveries } from "../webhook_lanes/webhook_lanes.queue.ts";
import { findDueMails, sendDueMails } from "./invite_mails.service.ts";

/** Mails may be due. Which, D1 knows: a message that is lost or delivered twice does no harm. */
const inviteMailMessage = lazily(() => z.object({ schema: z.literal("invite_mails/1") }));

const MESSAGE: z.infer<ReturnType<typeof inviteMailMessage>> = { schema: "invite_mails/1" };

/** Sends a message: invites may have been made. */
export async function nudgeInviteMails({
  mailer,
  inviteMailQueue,
}: Pick<Context, "mailer" | "inviteMailQueue">) {
  if (mailer) await nudge(inviteMailQueue, (delay) => sendMailMessage(inviteMailQueue, delay));
}

/** If it fails, the cron queues what is due. */
async function sendMailMessage(queue: Queue, delay: number): Promise<void> {
  await queue
    .send(MESSAGE, { delaySeconds: Math.ceil(delay / 1000) })
    .catch((error) => logFault({ queue: "invite-mails" }, error));
}

/** Sends due mails. If some are left after a portion, it sends a message for them. */
export const consumeInviteMails = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, inviteMailMessage(), async (context) => {
    if (await sendDueMails(context)) await sendMailMessage(context.inviteMailQueue, 0);
    await nudgeDeliveries(context.webhookQueue);
  });

/**
 * For the cron: sends a message if a mail is due, whatever became of the message for it. Mails that are tried again have no
 * other.
 *
 * @returns how many messages were sent
 */
export async function queueDueMails(context: Context): Promise<number> {
  if (!context.mailer || (await findDueMails(context, 1)).length === 0) return 0;
  await sendMailMessage(context.inviteMailQueue, 0);
  return 1;
}
