import type { Bound, Database } from "./database/database.ts";
import type { PurposeOfUse, Role } from "./database/enums.ts";
import { SYSTEM_USER_ID } from "./database/schema.ts";
import { envOfShard, isSharded, shardOf, shardsOf } from "./database/shards.ts";
import { type Mailer, mailerOf } from "./mail/mail.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Everything that a service verb needs from outside. Verbs use no globals and know nothing of HTTP. */
export interface Context {
  db: Database;
  /** Which database it is: see database/shards.ts. */
  shard: number;
  /** Where there are several databases. */
  shards?: Shards;
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
  /**
   * The same context in a shard. In a request, the rest of it and its bookmark are then about that shard.
   *
   * @param home of a request about an organization: what asks whether it has moved, and who is to know then
   */
  enter: (shard: number, home?: { newShard: Bound; onMoved?: (shard: number) => void }) => Context;
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
  /** Whether its entries count for the quotas of the day: see http/quotas.ts. */
  is_counted: boolean;
}

/** What a context of no request, or of a request, is opened with. */
interface Opening {
  db?: Database;
  request_id?: string;
}

/** What of a context names the database. */
export const placeOf = (env: Env) => ({
  shard: shardOf(env),
  bulkInviteQueue: env.BULK_INVITES,
  webhookQueue: env.WEBHOOKS,
  inviteMailQueue: env.INVITE_MAILS,
});

export function openContext(env: Env, now: number, { db = env.DB, request_id }: Opening = {}): Context {
  const settings = readSettings(env);
  return {
    db,
    ...placeOf(env),
    ...(isSharded(env) && {
      shards: {
        numbers: shardsOf(env),
        directory: envOfShard(env, 0).DB,
        enter: (shard) => openContext(envOfShard(env, shard), now),
      },
    }),
    requester: {
      user_id: SYSTEM_USER_ID,
      api_client_id: null,
      acting_user: null,
      purpose: null,
      request_id: request_id ?? null,
      is_counted: false,
    },
    recordings: env.RECORDINGS,
    auditLogs: env.AUDIT_LOGS,
    mailer: mailerOf(env, settings),
    settings,
    now,
  };
}

/** An API client acts as one organization user. */
export interface Caller {
  api_client_id: number;
  organization_id: number;
  /** The contract's user_id too. */
  organization_user_id: number;
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
  /** How many writes the request counts as, if it changes something: see http/quotas.ts. */
  writes: number;
}
