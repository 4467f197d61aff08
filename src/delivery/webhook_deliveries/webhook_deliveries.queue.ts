import * as z from "zod";
import type { Context } from "../../context.ts";
import { runAll } from "../../database/queries.ts";
import { logFault } from "../../http/log.ts";
import { id } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { consume } from "../../queues/consume.ts";
import { nudge, portionsOf, runToEnd, sendOrLog } from "../../queues/send.ts";
import { DUE_TOLERANCE, WEBHOOK_DUE_PORTION, WEBHOOK_LANES_AT_ONCE } from "../../tuning.ts";
import { dueEndpoints, type Lane, openLane, runLane } from "./webhook_deliveries.lanes.ts";

/** null: any endpoint. D1 knows which deliveries are due, so a lost or duplicate message does no harm. */
const webhookMessage = lazily(() =>
  z.object({ schema: z.literal("webhook_deliveries/1"), webhook_endpoint_id: id().nullable() }),
);

type WebhookMessage = z.infer<ReturnType<typeof webhookMessage>>;

const nudgeFor = (webhook_endpoint_id: number | null): WebhookMessage => ({
  schema: "webhook_deliveries/1",
  webhook_endpoint_id,
});

export const nudgeDeliveries = (queue: Queue): Promise<void> =>
  nudge(queue, (delay) => sendWebhookMessage(queue, null, delay));

const sendWebhookMessage = (queue: Queue, id: number | null, delay: number) =>
  sendOrLog(queue, nudgeFor(id), delay, { webhook_endpoint_id: id ?? undefined });

/** Only leases endpoints, and sends in the background, so that a slow receiver does not hold up the queue. */
export const consumeWebhookDeliveries = (batch: MessageBatch, env: Env, background: ExecutionContext) =>
  consume(batch, env, webhookMessage(), async (context, { webhook_endpoint_id }) => {
    if (webhook_endpoint_id === null) await dispatch(context, background);
    else await startLanes(context, [webhook_endpoint_id], background);
  });

/** Leases the first due endpoints. The others are queued for invocations of their own. */
async function dispatch(context: Context, background: ExecutionContext): Promise<void> {
  const due = await endpointsDue(context, WEBHOOK_DUE_PORTION);
  await startLanes(context, due.slice(0, WEBHOOK_LANES_AT_ONCE), background);
  await queueLanes(context, due.slice(WEBHOOK_LANES_AT_ONCE));
}

/** For the cron. Returns the number of endpoints with due deliveries. */
export async function queueDueDeliveries(context: Context): Promise<number> {
  const due = await endpointsDue(context, WEBHOOK_DUE_PORTION);
  await queueLanes(context, due);
  return due.length;
}

async function endpointsDue({ db, now }: Context, limit: number): Promise<number[]> {
  const due_before = now + DUE_TOLERANCE;
  return (await runAll(db, dueEndpoints({ now, due_before, limit }))).map(({ id }) => id);
}

async function queueLanes({ webhookQueue }: Context, ids: number[]): Promise<void> {
  const messages = ids.map((id) => ({ body: nudgeFor(id) }));
  for (const portion of portionsOf(messages)) await webhookQueue.sendBatch(portion);
}

async function startLanes(context: Context, ids: number[], background: ExecutionContext): Promise<void> {
  await runToEnd(
    ids.map(async (id) => {
      const lane = await openLane(context, id);
      if (lane) background.waitUntil(runAndGoOn(context, lane));
    }),
  );
}

async function runAndGoOn(context: Context, lane: Lane): Promise<void> {
  const { id } = lane.endpoint;
  try {
    const messageAt = await runLane(context, lane);
    if (messageAt !== null)
      await sendWebhookMessage(context.webhookQueue, id, Math.max(messageAt - Date.now(), 0));
  } catch (error) {
    logFault({ webhook_endpoint_id: id }, error);
  }
}
