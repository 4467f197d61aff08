import * as z from "zod";
import { type Context, openContext } from "./context.ts";
import { cleanUp } from "./database/clean_up.ts";
import {
  authorizationCodes,
  events,
  idempotencyKeys,
  livekitEgresses,
  mailedAddresses,
  waitingListReads,
} from "./database/schema.ts";
import { isSharded, shardsOf } from "./database/shards.ts";
import { log, logFault } from "./http/log.ts";
import {
  AUTHORIZATION_CODE_KEPT_FOR,
  EVENTS_KEPT_FOR,
  IDEMPOTENCY_KEY_KEPT_FOR,
  LIVEKIT_EGRESS_KEPT_FOR,
} from "./lifetimes.ts";
import { recoverLostEgresses } from "./livekit/recovery.ts";
import { lazily } from "./memory.ts";
import { consume } from "./queues/consume.ts";
import { portionsOf } from "./queues/portions.ts";
import { sealDays } from "./resources/access_log_seals/access_log_seals.chores.ts";
import { deleteOldAccessLogs } from "./resources/access_logs/access_logs.chores.ts";
import { erasePersonalData } from "./resources/bulk_invites/bulk_invites.chores.ts";
import { queueDueBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { deleteOldTexts } from "./resources/call_texts/call_texts.service.ts";
import { endSilentCalls, eraseReferences } from "./resources/calls/calls.chores.ts";
import { deleteOldRecordings } from "./resources/egress_deletions/egress_deletions.service.ts";
import { queueDueMails } from "./resources/invite_mails/invite_mails.queue.ts";
import { endSilentWaits, eraseParticipants } from "./resources/participants/participants.chores.ts";
import { deleteOldClientDays } from "./resources/usage/usage.chores.ts";
import { endVisits, eraseVisits } from "./resources/visits/visits.chores.ts";
import { deleteOldDeliveries } from "./resources/webhook_deliveries/webhook_deliveries.service.ts";
import { queueDueDeliveries } from "./resources/webhook_lanes/webhook_lanes.queue.ts";
import { WAITING_LIST_READS_KEPT_FOR } from "./tuning.ts";
import { DAY } from "./units.ts";

/** They return how many rows they have worked off: the log has that under their names. */
type Chores = Record<string, (context: Context) => Promise<number>>;

/** They delete what is old, by the time of its rows that counts. */
const cleanUps: Chores = {
  deleteOldCodes: cleanUp(authorizationCodes, authorizationCodes.expires_at, AUTHORIZATION_CODE_KEPT_FOR),
  deleteOldIdempotencyKeys: cleanUp(idempotencyKeys, idempotencyKeys.created_at, IDEMPOTENCY_KEY_KEPT_FOR),
  deleteOldLiveKitEgresses: cleanUp(livekitEgresses, livekitEgresses.updated_at, LIVEKIT_EGRESS_KEPT_FOR),
  deleteOldEvents: cleanUp(events, events.created_at, EVENTS_KEPT_FOR),
  deleteOldWaitingListReads: cleanUp(
    waitingListReads,
    waitingListReads.recorded_at,
    WAITING_LIST_READS_KEPT_FOR,
  ),
  deleteOldMailedAddresses: cleanUp(mailedAddresses, mailedAddresses.day, DAY),
  deleteOldClientDays,
};

const chores: Chores = {
  ...cleanUps,
  queueDueBulkInvites,
  erasePersonalData,
  endSilentCalls,
  endSilentWaits,
  deleteOldTexts,
  eraseParticipants,
  eraseReferences,
  endVisits,
  eraseVisits,
  deleteOldDeliveries,
  deleteOldAccessLogs,
  sealDays,
  deleteOldRecordings,
  recoverLostEgresses,
};

/** They come after those that may write events. */
const lastChores: Chores = { queueDueMails, queueDueDeliveries };

/** A database is to be worked off. A message that comes twice does no harm, and one that is lost comes again with the next run. */
const choresMessage = lazily(() => z.object({ schema: z.literal("chores/1"), scheduled_time: z.int() }));

/**
 * Works off the database. Of several, each gets a message, and so an invocation of its own, with its own subrequests and
 * connections: one that hangs holds up no other.
 *
 * @param scheduled_time for when the run was scheduled: what it decides is the same, however late the platform begins it
 */
export async function runCron(env: Env, scheduled_time: number): Promise<void> {
  try {
    await (isSharded(env) ? sendToEach(env, scheduled_time) : runChores(openContext(env, scheduled_time)));
  } catch (error) {
    // Such as a setting that is missing. What a chore throws is logged as its own.
    logFault({ chore: "all" }, error);
  }
}

async function sendToEach(env: Env, scheduled_time: number): Promise<void> {
  const messages = shardsOf(env).map((shard) => ({ body: { schema: "chores/1", scheduled_time, shard } }));
  for (const portion of portionsOf(messages)) await env.CHORES.sendBatch(portion);
}

export const consumeChores = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, choresMessage(), (context, { scheduled_time }) =>
    runChores({ ...context, now: scheduled_time }),
  );

async function runChores(context: Context): Promise<void> {
  const started = Date.now();
  const { shards, shard } = context;
  const ofShard = shards ? { shard } : {};
  const runAll = async (some: Chores) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(some).map(async ([chore, work]) => {
          try {
            return [chore, await work(context)] as const;
          } catch (error) {
            logFault({ chore, ...ofShard }, error);
            return [chore, "failed"] as const;
          }
        }),
      ),
    );
  const done = await runAll(chores);
  const queued = await runAll(lastChores);
  // Also where there was nothing to do: so a cron that no longer runs is noticed by its silence.
  log("cron", { ...ofShard, duration_ms: Date.now() - started, ...done, ...queued });
}
