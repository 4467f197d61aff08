import { app } from "./app.ts";
import { type Context, cronShare, openContext } from "./context.ts";
import { envOfShard, isSharded, shardOf, shardsOf, shardsOfRun } from "./database/shards.ts";
import { copyOrganizations } from "./directory/organizations.ts";
import { takeWaitingEgresses } from "./directory/waiting_egresses.ts";
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
import { endSilentCalls } from "./resources/calls/calls.chores.ts";
import { eraseReferences } from "./resources/calls/calls.erasure.ts";
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

/**
 * The work of the cron. Several databases have it done in this order: the chores that take more subrequests the more there is to
 * do come last, and of these last the one that may have to ask another database.
 */
const chores: Chores = {
  requeueLostRows,
  erasePersonalData,
  deleteOldCodes,
  deleteOldIdempotencyKeys,
  endSilentCalls,
  endSilentWaits,
  deleteOldTranscripts,
  deleteOldSoapNotes,
  eraseParticipants,
  eraseReferences,
  deleteOldLiveKitEgresses,
  deleteOldEvents,
  deleteOldDeliveries,
  deleteOldAccessLogs,
  deleteOldWaitingListReads,
  deleteOldOrganizationMails,
  deleteOldAddressMails,
  sealDays,
  deleteOldRecordings,
  recoverLostEgresses,
};

/** What only several databases need. They come after all others: the other database may hang. */
const choresOfShards: Chores = { copyOrganizations, takeWaitingEgresses };

export default {
  fetch: app.fetch,
  async queue(batch, env, context) {
    if (batch.queue.startsWith("webhook-deliveries")) return consumeWebhookDeliveries(batch, env, context);
    const consume = batch.queue.startsWith("invite-mails") ? consumeInviteMails : consumeBulkInvites;
    return consume(batch, env, ({ WEBHOOKS }) => nudgeDeliveries(WEBHOOKS));
  },
  async scheduled({ scheduledTime }, env) {
    const shards = shardsOfRun(shardsOf(env), scheduledTime);
    await Promise.all(shards.map((shard) => runCron(envOfShard(env, shard), scheduledTime, shards.length)));
  },
} satisfies ExportedHandler<Env>;

/**
 * Works off one database.
 *
 * @param now the time for which the run was scheduled: what it decides is the same, however late the platform begins it
 * @param together how many databases the run works off
 */
async function runCron(env: Env, now: number, together: number): Promise<void> {
  const started = Date.now();
  const share = isSharded(env) ? cronShare(together) : undefined;
  const open = () => openContext(env, now, { share });
  const done = await runChores(env, open, chores);
  // After those that may write events.
  const queued = await runChores(env, open, { queueDueMails, queueDueDeliveries });
  const copied = isSharded(env) ? await runChores(env, open, choresOfShards) : {};
  // Also where there was nothing to do: so a cron that no longer runs is noticed by its silence.
  log("cron", { ...shardIn(env), duration_ms: Date.now() - started, ...done, ...queued, ...copied });
}

/**
 * All at once. With several databases, those of each run one after another, and the databases at once: an invocation has six
 * connections, so that a database that hangs must not hold more than one of them.
 */
async function runChores(
  env: Env,
  open: () => Context,
  chores: Chores,
): Promise<Record<string, number | "failed">> {
  const run = async ([chore, work]: [string, Chores[string]]) => {
    try {
      return [chore, await work(open())] as const;
    } catch (error) {
      logFault({ chore, ...shardIn(env) }, error);
      return [chore, "failed"] as const;
    }
  };
  const all = Object.entries(chores);
  return Object.fromEntries(isSharded(env) ? await oneByOne(all, run) : await Promise.all(all.map(run)));
}

async function oneByOne<Item, Result>(
  items: Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/** What a line of the log says of the database, where there are several. */
const shardIn = (env: Env) => (isSharded(env) ? { shard: shardOf(env) } : {});
