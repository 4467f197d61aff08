import * as z from "zod";
import { sealDays } from "./audit/access_log_seals/access_log_seals.chores.ts";
import { deleteOldAccessLogs } from "./audit/access_logs/access_logs.chores.ts";
import { eraseReferences } from "./calls/calls/calls.chores.ts";
import { deleteUnclaimedRefusals } from "./calls/consents/consents.sql.ts";
import { endSilentWaits, eraseParticipants } from "./calls/participants/participants.chores.ts";
import type { Context } from "./context.ts";
import { cleanUp } from "./database/clean_up.ts";
import { recordRun } from "./database/runs.ts";
import { isSharded, shardsOf } from "./database/shards.ts";
import { events } from "./delivery/events/events.table.ts";
import { queueDueDeliveries } from "./delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { deleteOldDeliveries } from "./delivery/webhook_deliveries/webhook_deliveries.service.ts";
import { dateOf } from "./http/dates.ts";
import { log, logFault } from "./http/log.ts";
import { authorizationCodes } from "./joining/authorization_codes/authorization_codes.table.ts";
import { erasePersonalData } from "./joining/bulk_invites/bulk_invites.chores.ts";
import { queueDueBulkInvites } from "./joining/bulk_invites/bulk_invites.queue.ts";
import { queueDueMails } from "./joining/invite_mails/invite_mails.queue.ts";
import { mailedAddresses } from "./joining/invite_mails/invite_mails.table.ts";
import * as lifetimes from "./lifetimes.ts";
import { endClosedRooms, recoverLostEgresses } from "./livekit/recovery.ts";
import { livekitRooms, livekitVisitors } from "./livekit/rooms.table.ts";
import { stopRefusedEgresses } from "./livekit/stops.ts";
import { lazily } from "./memory.ts";
import { idempotencyKeys } from "./organization/idempotency_keys/idempotency_keys.table.ts";
import { reportFrozen } from "./organization/organizations/organizations.service.ts";
import { isOfOneClient } from "./organization/usage/usage.sql.ts";
import { organizationDays } from "./organization/usage/usage.table.ts";
import { consume, openBackground } from "./queues/consume.ts";
import { portionsOf } from "./queues/send.ts";
import { deleteOldTexts } from "./results/call_texts/call_texts.service.ts";
import { deleteOldRecordings } from "./results/egress_deletions/egress_deletions.service.ts";
import { announceResults } from "./results/results_ready/results_ready.chores.ts";
import { endSilentCalls } from "./results/silent_calls/silent_calls.chores.ts";
import { endVisits } from "./rooms/visits/visits.chores.ts";
import { CHORES_DELAY } from "./tuning.ts";
import { DAY } from "./units.ts";

/** The log reports the number of rows that each has processed. */
type Chores = Record<string, (context: Context) => Promise<number>>;

const chores: Chores = {
  deleteOldCodes: cleanUp(
    authorizationCodes,
    authorizationCodes.expires_at,
    lifetimes.AUTHORIZATION_CODE_KEPT_FOR,
  ),
  deleteOldIdempotencyKeys: cleanUp(
    idempotencyKeys,
    idempotencyKeys.created_at,
    lifetimes.IDEMPOTENCY_KEY_KEPT_FOR,
  ),
  deleteOldRooms: cleanUp(livekitRooms, livekitRooms.updated_at, lifetimes.ROOM_KEPT_FOR),
  deleteOldVisitors: cleanUp(livekitVisitors, livekitVisitors.updated_at, lifetimes.ROOM_KEPT_FOR),
  deleteOldEvents: cleanUp(events, events.created_at, lifetimes.EVENTS_KEPT_FOR),
  deleteOldMailedAddresses: cleanUp(mailedAddresses, mailedAddresses.day, DAY),
  // A client's quota covers only one day.
  deleteOldClientDays: cleanUp(organizationDays, organizationDays.date, DAY, {
    indexed: isOfOneClient,
    written: dateOf,
  }),
  deleteUnclaimedRefusals,
  queueDueBulkInvites,
  erasePersonalData,
  endSilentCalls,
  endClosedRooms,
  announceResults,
  endSilentWaits,
  deleteOldTexts,
  eraseParticipants,
  eraseReferences,
  endVisits,
  deleteOldDeliveries,
  deleteOldAccessLogs,
  sealDays,
  deleteOldRecordings,
  reportFrozen,
  recoverLostEgresses,
  stopRefusedEgresses,
};

/** These run after the chores that may write events. */
const lastChores: Chores = { queueDueMails, queueDueDeliveries };

/** One message per database and run. Duplicates do no harm; after a lost or late message, the next run sends another. */
const choresMessage = lazily(() => z.object({ schema: z.literal("chores/1"), scheduled_time: z.int() }));

/**
 * With several databases, each gets its own invocation: one that hangs does not delay the others. `scheduled_time` is when the
 * run should start, so that a late start does not change what the chores decide.
 */
export async function runCron(env: Env, scheduled_time: number): Promise<void> {
  try {
    if (isSharded(env)) return await sendToEach(env, scheduled_time);
    const context = await openBackground(env, scheduled_time);
    if (context) await runChores(context);
  } catch (error) {
    // For example, a missing setting. Errors of a single chore are logged under its own name.
    logFault({ chore: "all" }, error);
  }
}

async function sendToEach(env: Env, scheduled_time: number): Promise<void> {
  const messages = shardsOf(env).map((shard) => ({ body: { schema: "chores/1", scheduled_time, shard } }));
  for (const portion of portionsOf(messages)) await env.CHORES.sendBatch(portion);
}

export const consumeChores = (batch: MessageBatch, env: Env): Promise<void> =>
  consume(batch, env, choresMessage(), async (context, { scheduled_time }) => {
    // A late message is superseded by newer ones, and would date entries of the access log too far back.
    if (context.now - scheduled_time <= CHORES_DELAY) await runChores({ ...context, now: scheduled_time });
  });

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
  await recordRun(context).catch((error) => logFault({ chore: "recordRun", ...ofShard }, error));
  // Log even if there was nothing to do, so that operators notice when the cron stops.
  log("cron", { ...ofShard, duration_ms: Date.now() - started, ...done, ...queued });
}
