import type * as z from "zod";
import { type Context, openContext } from "../context.ts";
import { runAll } from "../database/queries.ts";
import { quietSince } from "../database/quiet.ts";
import { envOfShard, shardOfMessage } from "../database/shards.ts";
import { log, logFault } from "../http/log.ts";
import { growingPause } from "../pauses.ts";
import { QUEUE_RETRIES } from "../tuning.ts";

/**
 * Usually one message: each has its own invocation (`max_batch_size` in wrangler.toml). Nothing is thrown, because that would
 * redeliver the whole batch. A message of another schema is dropped, and one for a quiet database too: the cron sends new ones
 * once the database is resumed.
 */
export async function consume<Schema extends z.ZodType>(
  batch: MessageBatch,
  env: Env,
  schema: Schema,
  handle: (context: Context, body: z.output<Schema>) => Promise<void>,
): Promise<void> {
  async function consumeOne(message: Message) {
    try {
      const context = await openBackground(envOfShard(env, shardOfMessage(message.body)), Date.now());
      const body = schema.safeParse(message.body);
      if (!body.success) log("message_unknown", { queue: batch.queue, message_id: message.id });
      else if (context) await handle(context, body.data);
      message.ack();
    } catch (error) {
      logFault({ message_id: message.id }, error);
      message.retry({ delaySeconds: Math.round(growingPause(message.attempts, QUEUE_RETRIES)) });
    }
  }
  await Promise.all(batch.messages.map(consumeOne));
}

/**
 * null while the database is quiet. One check is enough: a backup makes its database quiet in the transaction that creates its
 * rows, and before Time Travel the operator stops the cron and the queues (src/docs/backup.md).
 */
export async function openBackground(env: Env, now: number): Promise<Context | null> {
  const context = openContext(env, now);
  const [quiet] = await runAll(context.db, quietSince({}));
  if (!quiet) return context;
  log("database_quiet", context.shards ? { shard: context.shard } : {});
  return null;
}
