import type { Database } from "./database/database.ts";
import type { PurposeOfUse, Role } from "./database/enums.ts";
import { SYSTEM_USER } from "./database/schema.ts";
import { envOfShard, isSharded, shardOf, shardsOf } from "./database/shards.ts";
import { SUBREQUESTS, SUBREQUESTS_OF_SHARD } from "./limits.ts";
import { type Mailer, mailerOf } from "./mail/mail.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Everything that a service verb needs from outside. Verbs use no globals and know nothing of HTTP. */
export interface Context {
  db: Database;
  /** Which database it is: see database/shards.ts. */
  shard: number;
  /** Where there are several databases. */
  shards?: Shards;
  /** In the cron of several databases. */
  share?: CronShare;
  bulkInviteQueue: Queue;
  /** The bucket of the recordings, where it is the one of the Worker's binding: see egresses.files.ts. */
  recordings: R2Bucket;
  /** The bucket of the sealed days of the access log. */
  auditLogs: R2Bucket;
  webhookQueue: Queue;
  inviteMailQueue: Queue;
  /** What sends mails; null where the operator has not set it up. */
  mailer: Mailer | null;
  settings: Settings;
  requester: Requester;
  /** The time of the request, in milliseconds since the epoch. */
  now: number;
}

/** The databases of the service. */
export interface Shards {
  /** In ascending order. */
  numbers: number[];
  directory: Database;
  databaseOf: (shard: number) => Database;
  /** The same context in a shard. In a request, the rest of it and its bookmark are then about that shard. */
  enter: (shard: number) => Context;
}

/** Who asks, as entries of the access log say it. Without an API client it is the service's own user. */
export interface Requester {
  user_id: number;
  api_client_id: number | null;
  /** For whom the client asks, in the client's own words: an assertion, never an authorization. */
  acting_user: string | null;
  purpose: PurposeOfUse | null;
  /** null for the work of the cron. */
  request_id: string | null;
}

/** What a context of no request, or of a request, is opened with. */
interface Opening {
  db?: Database;
  request_id?: string;
  share?: CronShare | undefined;
}

export function openContext(
  env: Env,
  now: number,
  { db = env.DB, request_id, share }: Opening = {},
): Context {
  const settings = readSettings(env);
  return {
    db,
    shard: shardOf(env),
    ...(isSharded(env) && {
      shards: {
        numbers: shardsOf(env),
        directory: envOfShard(env, 0).DB,
        databaseOf: (shard) => envOfShard(env, shard).DB,
        enter: (shard) => openContext(envOfShard(env, shard), now),
      },
    }),
    ...(share && { share }),
    requester: {
      user_id: SYSTEM_USER.id,
      api_client_id: null,
      acting_user: null,
      purpose: null,
      request_id: request_id ?? null,
    },
    bulkInviteQueue: env.BULK_INVITES,
    recordings: env.RECORDINGS,
    auditLogs: env.AUDIT_LOGS,
    webhookQueue: env.WEBHOOKS,
    inviteMailQueue: env.INVITE_MAILS,
    mailer: mailerOf(env, settings),
    settings,
    now,
  };
}

/**
 * In the cron of several databases, what of its invocation is for one of them. What it can do counts for all of them together.
 */
export interface CronShare {
  /** How many databases the run works off. */
  databases: number;
  /** How many subrequests are left. */
  subrequests: number;
}

export const cronShare = (databases: number): CronShare => ({
  databases,
  subrequests: Math.floor(SUBREQUESTS / databases) - SUBREQUESTS_OF_SHARD,
});

/** What every function of a share takes. Without one, it is all of the invocation. */
type Sharing = Pick<Context, "share">;

/**
 * How much of a portion can be worked off: at least one. It takes at most half of what is left, so that something is left for the
 * chores that come after.
 *
 * @param subrequests how many each takes
 */
export const affordable = ({ share }: Sharing, portion: number, subrequests: number): number =>
  share ? Math.max(1, Math.min(portion, Math.floor(share.subrequests / 2 / subrequests))) : portion;

/** Leaves less for the chores that come after. */
export function spend({ share }: Sharing, subrequests: number): void {
  if (share) share.subrequests -= subrequests;
}

/** This database's part of what is divided evenly, such as connections: at least one. */
export const evenPart = ({ share }: Sharing, whole: number): number =>
  Math.max(1, Math.floor(whole / (share?.databases ?? 1)));

/** An API client acts as one organization user. */
export interface Caller {
  api_client_id: number;
  organization_id: number;
  organization_user_id: number;
  user_id: number;
  roles: Role[];
  /** Whether the organization wants to know for whom its clients read what the access log records. */
  require_acting_user: boolean;
}

/** A request with an `Idempotency-Key`, which is carried out once. */
export interface KeyedRequest {
  key: string;
  /** The digest of the request. */
  fingerprint: () => Promise<string>;
  /** Whether it was carried out before, and the verb has only returned the row that was made then. */
  isReplay: boolean;
}

/** The context of a request through the external API. */
export interface ClientContext extends Context {
  caller: Caller;
  /** The URL of the request, by which the caller reached the service. */
  url: string;
  /** For routes that take an `Idempotency-Key`: the request, if it has one. */
  keyed?: KeyedRequest;
}
