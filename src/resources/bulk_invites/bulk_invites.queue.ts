import { type Context, openContext } from "../../context.ts";
import { log, logFault } from "../../http/log.ts";
import { QUEUE_RETRY_DELAY } from "../../limits.ts";
import { failChunk, processChunk } from "./bulk_invites.processing.ts";
import { type BulkInviteChunk, bulkInviteChunk } from "./bulk_invites.schemas.ts";

const DEAD_LETTERS = "bulk-invites-dead-letter";

/**
 * Works off the queue of bulk invites, and its dead letters: what failed there three times. Each message is
 * acknowledged or tried again by itself, later each time.
 */
export async function consumeBulkInvites(batch: MessageBatch, env: Env) {
  const context = openContext(env, Date.now());
  const work = batch.queue === DEAD_LETTERS ? giveUp : processChunk;
  for (const message of batch.messages) {
    try {
      const chunk = bulkInviteChunk.safeParse(message.body);
      if (chunk.success) await work(context, chunk.data);
      else log("message_unknown", { queue: batch.queue, message_id: message.id });
      message.ack();
    } catch (error) {
      logFault({ message_id: message.id }, error);
      message.retry({ delaySeconds: QUEUE_RETRY_DELAY * 2 ** (message.attempts - 1) });
    }
  }
}

async function giveUp(context: Context, chunk: BulkInviteChunk) {
  await failChunk(context, chunk);
  const { bulk_invite_id, first_row, last_row } = chunk;
  log("bulk_invite_chunk_failed", { bulk_invite_id, first_row, last_row });
}
