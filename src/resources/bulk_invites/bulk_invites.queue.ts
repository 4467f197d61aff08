import { type Context, openContext } from "../../context.ts";
import { log, logFault } from "../../http/log.ts";
import { QUEUE_RETRY_DELAY, QUEUE_RETRY_JITTER, QUEUE_RETRY_LONGEST } from "../../limits.ts";
import { failChunk, processChunk } from "./bulk_invites.processing.ts";
import { type BulkInviteChunk, bulkInviteChunk } from "./bulk_invites.schemas.ts";

const DEAD_LETTERS = "bulk-invites-dead-letter";

/**
 * Works off the queue of bulk invites, and its dead letters: what failed there in every attempt. Each message is
 * acknowledged or tried again by itself, later each time. Nothing is thrown: that would redeliver the whole batch.
 */
export async function consumeBulkInvites(batch: MessageBatch, env: Env) {
  for (const message of batch.messages) {
    try {
      const context = openContext(env, Date.now());
      const chunk = bulkInviteChunk.safeParse(message.body);
      if (!chunk.success) log("message_unknown", { queue: batch.queue, message_id: message.id });
      else if (batch.queue === DEAD_LETTERS) await processLastTime(context, chunk.data, message.id);
      else await processChunk(context, chunk.data);
      message.ack();
    } catch (error) {
      logFault({ message_id: message.id }, error);
      message.retry({ delaySeconds: retryDelay(message.attempts) });
    }
  }
}

/** Tries a dead letter once more. If that fails too, its rows fail. If not even that is possible, it is retried. */
async function processLastTime(context: Context, chunk: BulkInviteChunk, message_id: string) {
  const { bulk_invite_id, first_row, last_row } = chunk;
  log("message_dead", { message_id, bulk_invite_id, first_row, last_row });
  try {
    await processChunk(context, chunk);
  } catch (error) {
    logFault({ message_id }, error);
    await failChunk(context, chunk);
    log("bulk_invite_chunk_failed", { bulk_invite_id, first_row, last_row });
  }
}

/** In seconds: the pause after this many attempts. */
export function retryDelay(attempts: number): number {
  const delay = Math.min(QUEUE_RETRY_DELAY * 2 ** (attempts - 1), QUEUE_RETRY_LONGEST);
  return Math.round(delay * (1 + QUEUE_RETRY_JITTER * Math.random()));
}
