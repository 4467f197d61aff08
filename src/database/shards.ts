import { CRON_INTERVAL, SHARDS_OF_RUN } from "../limits.ts";

/*
 * An organization lives in one of several databases, the shards: D1 holds 10 GB in each, and runs one query at a time. The
 * binding `DB` is shard 0 and also the directory, which knows of every organization where it lives. `DB_1`, `DB_2`, … are
 * the others. With `DB` alone, nothing here does anything.
 *
 * A shard is the same environment with another `DB`. Who authenticates a request, a message or the cron chooses it, and
 * everything behind that knows of one database only. What has to look at several is in src/directory.
 *
 * Pairs of writes to two databases, and what happens if the second never comes:
 *
 * - A new organization: its row in the directory, with a row in `organization_outbox`; then the copy in its shard, with the
 *   entry of the access log. A request whose second write fails takes the first one back. If it cannot, or dies, the cron
 *   writes the copy.
 * - A changed organization: its row in the shard, where a trigger writes the outbox in the same transaction; then the copy in
 *   the directory. The cron copies what is in the outbox, and only then clears it: so copies that overtake each other, or
 *   never come, are corrected.
 * - A new person: the row of `users` in the directory; then the copy, in the shard, in the transaction that makes the member.
 *   Without the second, a user of no organization is left, whom nothing shows. Who becomes a member later gets this id.
 * - A new call, egress or file: the claim of its key in `locations`; then the row in the shard. A claim without a row keeps
 *   others out for CLAIM_KEPT_FOR. After that, the next claimant fences the owner's shard, and takes the key if there is no row.
 * - A fence in the owner's shard; then the new owner of the key, or none, in the directory. Without the second, the claim stays,
 *   and its owner's next report takes the fence away.
 * - An egress event that waited for its call in the directory: the egress in the shard; then the deletion of what waited.
 *   Without the second, the cron finds that the egress is known, and deletes what waited.
 */

/** What is taken from one environment to that of a shard. */
type Bindings = Pick<Env, "DB" | "BULK_INVITES" | "INVITE_MAILS" | "WEBHOOKS">;

/** The environment of a shard. That of the directory has no SHARD. */
type ShardEnv<E> = E & { SHARD?: number };

/** By each of the environments. Wrappers of queues are kept: an isolate remembers by them what it has sent. */
const known = new WeakMap<object, Map<number, Bindings>>();

/** The shards that an environment binds, in ascending order. */
export const shardsOf = (env: object): number[] => [...environmentsOf(env).keys()];

/** True where there is more than one database. */
export const isSharded = (env: object): boolean => environmentsOf(env).size > 1;

/**
 * Those that a run of the cron works off. If there are too many for one run, runs take turns, by the time for which they were
 * scheduled.
 */
export function shardsOfRun(numbers: number[], scheduledTime: number): number[] {
  const turns = Math.ceil(numbers.length / SHARDS_OF_RUN);
  const turn = Math.round(scheduledTime / CRON_INTERVAL) % turns;
  return numbers.filter((_, place) => place % turns === turn);
}

/** The shard of an environment. */
export const shardOf = (env: object): number => (env as ShardEnv<object>).SHARD ?? 0;

/** The environment of a shard, or undefined if nothing is bound for it. `env` is that of any shard. */
export const findEnvOfShard = <E extends Bindings>(env: E, shard: number): E | undefined =>
  environmentsOf(env).get(shard) as E | undefined;

/** @throws Error if nothing is bound for the shard */
export function envOfShard<E extends Bindings>(env: E, shard: number): E {
  const found = findEnvOfShard(env, shard);
  if (!found) throw new Error(`There is no binding DB_${shard}`);
  return found;
}

function environmentsOf(env: object): Map<number, Bindings> {
  const before = known.get(env);
  if (before) return before;
  const others = Object.keys(env)
    .flatMap((name) => /^DB_([1-9]\d{0,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter((shard) => shard <= MAX_SHARD)
    .sort((a, b) => a - b);
  const environments = new Map([[0, env as Bindings]]);
  for (const shard of others) environments.set(shard, withShard(env as Bindings, shard));
  for (const each of environments.values()) known.set(each, environments);
  return environments;
}

const withShard = (env: Bindings, shard: number): ShardEnv<Bindings> => ({
  ...env,
  DB: (env as unknown as Record<string, D1Database>)[`DB_${shard}`] as D1Database,
  BULK_INVITES: namingShard(env.BULK_INVITES, shard),
  INVITE_MAILS: namingShard(env.INVITE_MAILS, shard),
  WEBHOOKS: namingShard(env.WEBHOOKS, shard),
  SHARD: shard,
});

/** A queue whose messages carry the shard. */
function namingShard(queue: Queue, shard: number): Queue {
  const named = (body: unknown) => ({ ...(body as object), shard });
  return {
    send: (body, options) => queue.send(named(body), options),
    sendBatch: (messages, options) =>
      queue.sendBatch(
        Array.from(messages, (message) => ({ ...message, body: named(message.body) })),
        options,
      ),
  } as Queue;
}

/** The shard that a message of a queue carries. */
export function shardOfMessage(body: unknown): number {
  const shard = (body as { shard?: unknown } | null)?.shard;
  return typeof shard === "number" ? shard : 0;
}

/** Two bytes of a secret name it. */
const MAX_SHARD = 0xffff;

/** How many ids a range has. */
export const RANGE = 2 ** 32;

/** The range of an id: see `shards` in schema.ts. Where its row lives now, this only guesses. */
export const rangeOf = (id: number): number => Math.floor(id / RANGE);
