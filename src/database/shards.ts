/*
 * An organization lives in one of several databases, because a D1 database holds up to 10 GB and runs one query at a time. `DB`
 * is shard 0 and also the directory; `DB_1`, `DB_2`, … are the other shards. A shard is the same environment with another `DB`,
 * selected where a request, a message or a run of the cron comes in. All code after that knows only one database.
 */

type Bindings = Pick<Env, "DB" | "BULK_INVITES" | "INVITE_MAILS" | "WEBHOOKS">;

type ShardEnv<E> = E & { SHARD?: number };

/** They are kept because an isolate remembers messages by their queue wrappers. */
const knownEnvironments = new WeakMap<object, Map<number, Bindings>>();

/** In ascending order. */
export const shardsOf = (env: object): number[] => [...environmentsOf(env).keys()];

export const isSharded = (env: object): boolean => environmentsOf(env).size > 1;

export const shardOf = (env: object): number => (env as ShardEnv<object>).SHARD ?? 0;

/** `env` may be the environment of any shard. */
export const findEnvOfShard = <E extends Bindings>(env: E, shard: number): E | undefined =>
  environmentsOf(env).get(shard) as E | undefined;

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

export function shardOfMessage(body: unknown): number {
  const shard = (body as { shard?: unknown } | null)?.shard;
  return typeof shard === "number" ? shard : 0;
}

/** Secrets store the shard in two bytes. */
const MAX_SHARD = 0xffff;

export const RANGE = 2 ** 32;
