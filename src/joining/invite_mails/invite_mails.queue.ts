import * as z from "zod";
import type { Context } from "../../context.ts";
import { newTurn } from "../../database/turns.ts";
import { nudgeDeliveries } from "../../delivery/webhook_lanes/webhook_lanes.queue.ts";
import { logFault } from "../../http/log.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge } from "../../queues/nudge.ts";
import { findDueMails, sendDueMails } from "./invite_mails.service.ts";

/** Mails may be due. D1 knows which, so a lost or duplicate message does no harm. */
const inviteMailMessage = lazily(() => z.object({ schema: z.literal("invite_mails/1") }));

const MESSAGE: z.infer<ReturnType<typeof inviteMailMessage>> = { schema: "invite_mails/1" };

export async function nudgeInviteMails({
  mailer,
  inviteMailQueue,
}: Pick<Context, "mailer" | "inviteMailQueue">) {
  if (mailer) await nudge(inviteMailQueue, (delay) => sendMailMessage(inviteMailQueue, delay));
}

/** Logs a failure: the cron queues due mails anyway. */
async function sendMailMessage(queue: Queue, delay: number): Promise<void> {
  await queue
    .send(MESSAGE, { delaySeconds: Math.ceil(delay / 1000) })
    .catch((error) => logFault({ queue: "invite-mails" }, error));
}

export const consumeInviteMails = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, inviteMailMessage(), async (context) => {
    if (await sendDueMails(context)) await sendMailMessage(context.inviteMailQueue, 0);
    await nudgeDeliveries(context.webhookQueue);
  });

/**
 * For the cron: sends a message if a mail is due, in case its message was lost. Retries depend on it, because no other
 * message is sent for them.
 *
 * @returns the number of messages sent
 */
export async function queueDueMails(context: Context): Promise<number> {
  if (!context.mailer || (await findDueMails(context, newTurn(1, 1))).length === 0) return 0;
  await sendMailMessage(context.inviteMailQueue, 0);
  return 1;
}
