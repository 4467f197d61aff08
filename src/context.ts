import type { Database } from "./database/database.ts";
import type { Role } from "./database/enums.ts";
import { readSettings, type Settings } from "./settings.ts";

/** Everything that a service verb needs from outside. Verbs use no globals and know nothing of HTTP. */
export interface Context {
  db: Database;
  bulkInviteQueue: Queue;
  /** The bucket of the recordings, where it is the one of the Worker's binding: see egresses.files.ts. */
  recordings: R2Bucket;
  webhookQueue: Queue;
  settings: Settings;
  /** The time of the request, in milliseconds since the epoch. */
  now: number;
}

export function openContext(env: Env, now: number, db: Database = env.DB): Context {
  return {
    db,
    bulkInviteQueue: env.BULK_INVITES,
    recordings: env.RECORDINGS,
    webhookQueue: env.WEBHOOKS,
    settings: readSettings(env),
    now,
  };
}

/** An API client acts as one organization user. */
export interface Caller {
  api_client_id: number;
  organization_id: number;
  organization_user_id: number;
  user_id: number;
  roles: Role[];
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
