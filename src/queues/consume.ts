import type * as z from "zod";
import { type Context, openContext } from "../context.ts";
import { envOfShard, shardOfMessage } from "../database/shards.ts";
import { log, logFault } from "../http/log.ts";
import { retryDelay } from "./retry_delay.ts";

/**
 * Works off the messages of a batch. Each is acknowledged or tried again by itself, later each time. Nothing is thrown:
 * that would redeliver the whole batch. A message of another schema would be no better the next time.
 */
export async function consume<Schema extends z.ZodType>(
  batch: MessageBatch,
  env: Env,
  schema: Schema,
  handle: (context: Context, body: z.output<Schema>, message_id: string) => Promise<void>,
): Promise<void> {
  async function consumeOne(message: Message) {
    try {
      const context = openContext(envOfShard(env, shardOfMessage(message.body)), Date.now());
      const body = schema.safeParse(message.body);
      if (body.success) await handle(context, body.data, message.id);
      else log("message_unknown", { queue: batch.queue, message_id: message.id });
      message.ack();
    } catch (error) {
      logFault({ message_id: message.id }, error);
      message.retry({ delaySeconds: retryDelay(message.attempts) });
    }
  }
  // One after the other in each shard. A shard that is slow keeps no other waiting.
  const shards = Map.groupBy(batch.messages, ({ body }) => shardOfMessage(body)).values();
  await Promise.all(
    Array.from(shards, async (messages) => {
      for (const message of messages) await consumeOne(message);
    }),
  );
}
