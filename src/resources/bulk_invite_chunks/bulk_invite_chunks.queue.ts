import type { Context } from "../../context.ts";
import { log, logFault } from "../../http/log.ts";
import { type AfterShard, consume } from "../../queues/consume.ts";
import { type BulkInviteChunk, bulkInviteChunk } from "../bulk_invites/bulk_invites.schemas.ts";
import { nudgeInviteMails } from "../invite_mails/invite_mails.queue.ts";
import { failChunk, processChunk } from "./bulk_invite_chunks.service.ts";

const DEAD_LETTERS = "bulk-invites-dead-letter";

/** Works off the queue of bulk invites, and its dead letters: what failed there in every attempt. */
export const consumeBulkInvites = (batch: MessageBatch, env: Env, afterShard: AfterShard): Promise<void> =>
  consume(
    batch,
    env,
    bulkInviteChunk(),
    async (context, chunk, message_id) => {
      await (batch.queue.startsWith(DEAD_LETTERS) ? processLastTime : processChunk)(
        context,
        chunk,
        message_id,
      );
      await nudgeInviteMails(context);
    },
    afterShard,
  );

/** Tries a dead letter once more. If that fails too, its rows fail. If not even that is possible, it is retried. */
async function processLastTime(context: Context, chunk: BulkInviteChunk, message_id: string): Promise<void> {
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
