import { app } from "./app.ts";
import { type Context, openContext } from "./context.ts";
import { envOfShard, isSharded, shardOf, shardsOf } from "./database/shards.ts";
import { copyOrganizations } from "./directory/organizations.ts";
import { takeWaitingEgresses } from "./directory/reports.ts";
import { log, logFault } from "./http/log.ts";
import { deleteOldLiveKitEgresses } from "./livekit/egresses.ts";
import { recoverLostEgresses } from "./livekit/recovery.ts";
import { sealDays } from "./resources/access_log_seals/access_log_seals.chores.ts";
import {
  deleteOldAccessLogs,
  deleteOldWaitingListReads,
} from "./resources/access_logs/access_logs.chores.ts";
import { deleteOldCodes } from "./resources/authorization_codes/authorization_codes.service.ts";
import { erasePersonalData, requeueLostRows } from "./resources/bulk_invites/bulk_invites.chores.ts";
import { consumeBulkInvites } from "./resources/bulk_invites/bulk_invites.queue.ts";
import { endSilentCalls, eraseReferences } from "./resources/calls/calls.chores.ts";
import { deleteOldRecordings } from "./resources/egresses/egresses.deletion.ts";
import { deleteOldEvents } from "./resources/events/events.service.ts";
import { deleteOldIdempotencyKeys } from "./resources/idempotency_keys/idempotency_keys.service.ts";
import {
  deleteOldAddressMails,
  deleteOldOrganizationMails,
} from "./resources/invites/invites.mail_limits.ts";
import { consumeInviteMails, queueDueMails } from "./resources/invites/invites.queue.ts";
import { endSilentWaits, eraseParticipants } from "./resources/participants/participants.chores.ts";
import { deleteOldSoapNotes } from "./resources/soap_notes/soap_notes.service.ts";
import { deleteOldTranscripts } from "./resources/transcripts/transcripts.service.ts";
import {
  consumeWebhookDeliveries,
  nudgeDeliveries,
  queueDueDeliveries,
} from "./resources/webhook_deliveries/webhook_deliveries.queue.ts";
import { deleteOldDeliveries } from "./resources/webhook_deliveries/webhook_deliveries.service.ts";

/** They return how many rows they have worked off: the log has that under their names. */
type Chores = Record<string, (context: Context) => Promise<number>>;

/** The work of the cron. */
const chores: Chores = {
  requeueLostRows,
  erasePersonalData,
  deleteOldCodes,
  deleteOldIdempotencyKeys,
  endSilentCalls,
  endSilentWaits,
  deleteOldTranscripts,
  deleteOldSoapNotes,
  deleteOldRecordings,
  eraseParticipants,
  eraseReferences,
  deleteOldLiveKitEgresses,
  recoverLostEgresses,
  deleteOldEvents,
  deleteOldDeliveries,
  sealDays,
  deleteOldAccessLogs,
  deleteOldWaitingListReads,
  deleteOldOrganizationMails,
  deleteOldAddressMails,
};

/** What only several databases need. */
const choresOfShards: Chores = { copyOrganizations, takeWaitingEgresses };

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    const consume = batch.queue.startsWith("invite-mails") ? consumeInviteMails : consumeBulkInvites;
    return consume(batch, env, ({ WEBHOOKS }) => nudgeDeliveries(WEBHOOKS));
  },
  async scheduled({ scheduledTime }, env) {
    const started = Date.now();
    const shards = shardsOf(env);
    const done = await Promise.all(shards.map((shard) => runCron(envOfShard(env, shard), scheduledTime)));
    // Also where there was nothing to do: so a cron that no longer runs is noticed by its silence.
    log("cron", { duration_ms: Date.now() - started, ...sumOf(done) });
  },
} satisfies ExportedHandler<Env>;

type Done = Record<string, number | "failed">;

/**
 * Works off one shard. The shards are worked off at once, so that one that is down or slow holds up no other.
 *
 * @param now the time for which the run was scheduled: what it decides is the same, however late the platform begins it
 */
async function runCron(env: Env, now: number): Promise<Done> {
  const done = await runChores(env, now, isSharded(env) ? { ...chores, ...choresOfShards } : chores);
  // After those that may write events.
  return { ...done, ...(await runChores(env, now, { queueDueMails, queueDueDeliveries })) };
}

async function runChores(env: Env, now: number, chores: Chores): Promise<Done> {
  const done = await Promise.all(
    Object.entries(chores).map(async ([chore, run]) => {
      try {
        return [chore, await run(openContext(env, now))] as const;
      } catch (error) {
        logFault({ chore, ...(isSharded(env) && { shard: shardOf(env) }) }, error);
        return [chore, "failed"] as const;
      }
    }),
  );
  return Object.fromEntries(done);
}

/** How much was done in all shards together. */
function sumOf([first = {}, ...others]: Done[]): Done {
  const add = (one: Done[string], other: Done[string] = 0) =>
    one === "failed" || other === "failed" ? "failed" : one + other;
  return others.reduce(
    (sum, done) => Object.fromEntries(Object.entries(sum).map(([chore, n]) => [chore, add(n, done[chore])])),
    first,
  );
}
