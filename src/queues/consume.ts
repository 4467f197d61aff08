import type * as z from "zod";
import { type Context, openContext } from "../context.ts";
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
  for (const message of batch.messages) {
    try {
      const context = openContext(env, Date.now());
      const body = schema.safeParse(message.body);
      if (body.success) await handle(context, body.data, message.id);
      else log("message_unknown", { queue: batch.queue, message_id: message.id });
      message.ack();
    } catch (error) {
      logFault({ message_id: message.id }, error);
      message.retry({ delaySeconds: retryDelay(message.attempts) });
    }
  }
}
