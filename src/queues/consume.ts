import type * as z from "zod";
import { type Context, openContext } from "../context.ts";
import { envOfShard, shardOfMessage } from "../database/shards.ts";
import { isPassing } from "../http/errors.ts";
import { log, logFault } from "../http/log.ts";
import { growingPause } from "../pauses.ts";
import { QUEUE_FAULTS_TIME, QUEUE_RETRIES } from "../tuning.ts";

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
  /** Returns for how long D1 was asked in vain, if it was. */
  async function consumeOne(message: Message): Promise<number> {
    const started = Date.now();
    try {
      const context = openContext(envOfShard(env, shardOfMessage(message.body)), started);
      const body = schema.safeParse(message.body);
      if (body.success) await handle(context, body.data, message.id);
      else log("message_unknown", { queue: batch.queue, message_id: message.id });
      message.ack();
      return 0;
    } catch (error) {
      logFault({ message_id: message.id }, error);
      retryLater(message);
      return isPassing(error) ? Date.now() - started : 0;
    }
  }
  // One after the other in each shard. A shard that is slow keeps no other waiting.
  async function consumeShard(messages: Message[]) {
    let lost = 0;
    for (const message of messages)
      if (lost < QUEUE_FAULTS_TIME) lost += await consumeOne(message);
      else retryLater(message);
  }
  const shards = Map.groupBy(batch.messages, ({ body }) => shardOfMessage(body));
  await Promise.all(Array.from(shards.values(), consumeShard));
}

const retryLater = (message: Message) =>
  message.retry({ delaySeconds: Math.round(growingPause(message.attempts, QUEUE_RETRIES)) });
