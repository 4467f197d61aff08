import { createExecutionContext, createMessageBatch, createScheduledController } from "cloudflare:test";
import worker from "../../../src/index.ts";

interface Chores {
  body: { shard: number };
}

/**
 * Runs the cron, and the messages that it queues: one for each database, if there are several.
 *
 * @param deliver by default, delivers each message once, all at the same time
 */
export async function runCronOf(
  bound: Env,
  scheduledTime = Date.now(),
  deliver = (messages: Chores[], consume: (message: Chores) => Promise<void>): Promise<unknown> =>
    Promise.all(messages.map(consume)),
): Promise<void> {
  const sent: Chores[] = [];
  const CHORES = { sendBatch: async (messages: Iterable<Chores>) => void sent.push(...messages) };
  const withQueue = { ...bound, CHORES } as unknown as Env;
  await worker.scheduled(createScheduledController({ scheduledTime: new Date(scheduledTime) }), withQueue);
  await deliver(sent, async ({ body }) => {
    const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body };
    await worker.queue(createMessageBatch("chores", [message]), withQueue, createExecutionContext());
  });
}
