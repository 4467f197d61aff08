/*
 * An organization lives in one of several databases, the shards: D1 holds 10 GB in each, and runs one query at a time. The
 * binding `DB` is shard 0 and also the directory, which knows of every organization where it lives. `DB_1`, `DB_2`, … are
 * the others. With `DB` alone, nothing here does anything.
 *
 * A shard is the same environment with another `DB`. Who authenticates a request, a message or the cron chooses it, and
 * everything behind that knows of one database only.
 */

/** What is taken from one environment to that of a shard. */
type Bindings = Pick<Env, "DB" | "BULK_INVITES" | "INVITE_MAILS" | "WEBHOOKS">;

/** The environment of a shard. That of the directory has no SHARD. */
type ShardEnv<E> = E & { SHARD?: number };

/** By each of the environments. Wrappers of queues are kept: an isolate remembers by them what it has sent. */
const knownEnvironments = new WeakMap<object, Map<number, Bindings>>();

/** The shards that an environment binds, in ascending order. */
export const shardsOf = (env: object): number[] => [...environmentsOf(env).keys()];

/** True where there is more than one database. */
export const isSharded = (env: object): boolean => environmentsOf(env).size > 1;

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
  const before = knownEnvironments.get(env);
  if (before) return before;
  const others = Object.keys(env)
    .flatMap((name) => /^DB_([1-9]\d{0,4})$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter((shard) => shard <= MAX_SHARD)
    .sort((a, b) => a - b);
  const environments = new Map([[0, env as Bindings]]);
  for (const shard of others) environments.set(shard, withShard(env as Bindings, shard));
  for (const each of environments.values()) knownEnvironments.set(each, environments);
  return environments;
}

const withShard = (env: Bindings, shard: number): ShardEnv<Bindings> => ({
  ...env,
  DB: (env as unknown as Record<string, D1Database>)[`DB_${shard}`] as D1Database,
  BULK_INVITES: queueOfShard(env.BULK_INVITES, shard),
  INVITE_MAILS: queueOfShard(env.INVITE_MAILS, shard),
  WEBHOOKS: queueOfShard(env.WEBHOOKS, shard),
  SHARD: shard,
});

/** A queue whose messages carry the shard. */
function queueOfShard(queue: Queue, shard: number): Queue {
  const bodyWithShard = (body: unknown) => ({ ...(body as object), shard });
  return {
    send: (body, options) => queue.send(bodyWithShard(body), options),
    sendBatch: (messages, options) =>
      queue.sendBatch(
        Array.from(messages, (message) => ({ ...message, body: bodyWithShard(message.body) })),
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
