import type * as z from "zod";
import type { Database } from "./database/database.ts";
import type { Writer } from "./database/decide_and_write.ts";
import { type PurposeOfUse, QUOTAS, type Quota, type Role, type Scope } from "./database/enums.ts";
import { envOfShard, isSharded, shardOf, shardsOf } from "./database/shards.ts";
import { type Mailer, mailerOf } from "./mail/mail.ts";
import { SYSTEM_USER_ID } from "./organization/members/organization_users.table.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Everything a verb needs from outside. Verbs use no globals and know nothing about HTTP. */
export interface Context extends Writer {
  shard: number;
  /** Undefined if there is only one database. */
  shards?: Shards;
  bulkInviteQueue: Queue;
  /** The Worker's bucket of recordings. Unused if recordings are stored elsewhere: see egresses.files.ts. */
  recordings: R2Bucket;
  auditLogs: R2Bucket;
  webhookQueue: Queue;
  inviteMailQueue: Queue;
  /** null if the operator has not set up mail. */
  mailer: Mailer | null;
  settings: Settings;
  requester: Requester;
  /** The ETags of the `If-Match` header, or `*`: the versions that the request may change. */
  if_match?: string[] | undefined;
  /** The body of an update: see http/unchangeable.ts. */
  sent?: { body: unknown; schema: z.ZodType };
  /** In milliseconds since the epoch. */
  now: number;
}

export interface Shards {
  /** In ascending order. */
  numbers: number[];
  directory: Database;
  /** Makes a shard the one of the request and its bookmark. */
  enter: (shard: number) => Context;
}

/** As the access log records it. Without an API client, the service's own user. */
export interface Requester {
  user_id: number;
  api_client_id: number | null;
  /** The person that the client acts for, as the client names them: an assertion, never an authorization. */
  acting_user: string | null;
  purpose: PurposeOfUse | null;
  /** null in the cron. */
  request_id: string | null;
  quota: Quota;
}

export function openContext(env: Env, now: number, db: Database = env.DB, request_id?: string): Context {
  const settings = readSettings(env);
  return {
    db,
    shard: shardOf(env),
    bulkInviteQueue: env.BULK_INVITES,
    webhookQueue: env.WEBHOOKS,
    inviteMailQueue: env.INVITE_MAILS,
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
      quota: QUOTAS.none,
    },
    recordings: env.RECORDINGS,
    auditLogs: env.AUDIT_LOGS,
    mailer: mailerOf(env, settings),
    settings,
    now,
  };
}

export interface Caller {
  api_client_id: number;
  organization_id: number;
  /** The contract calls it user_id too. */
  organization_user_id: number;
  roles: readonly Role[];
  /** null for everything that the roles allow. */
  scopes: Scope[] | null;
  /** null for a client that never expires. */
  expires_at: number | null;
  /** Whether the organization requires `X-Acting-User` and `X-Purpose-Of-Use` on recorded reads. */
  require_acting_user: boolean;
}

/** A request with an `Idempotency-Key`, which is carried out only once. */
export interface KeyedRequest {
  key: string;
  fingerprint: () => Promise<string>;
  /** The verb changed nothing and returned the earlier result. */
  isReplay: boolean;
}

export interface ClientContext extends Context {
  caller: Caller;
  url: string;
  keyed?: KeyedRequest;
  /** How many writes the request counts as: see usage.quotas.ts. */
  writes: number;
}
