/*
 * An organization lives in one of several databases, because a D1 database holds up to 10 GB and runs one query at a time. `DB`
 * is shard 0 and also the directory; `DB_1`, `DB_2`, … are the other shards. A shard is the same environment with another `DB`,
 * selected where a request, a message or a run of the cron comes in. All code after that knows only one database.
 * A shard can lie in another region than the first one. Then its environment has that region's buckets and storage settings too.
 */

import { MAX_REGION_LENGTH } from "../limits.ts";

type Bindings = Pick<Env, "DB" | "BULK_INVITES" | "INVITE_MAILS" | "WEBHOOKS">;

type ShardEnv<E> = E & { SHARD?: number } & Partial<RegionOfShard>;

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
  ...inRegionOf(env, shard),
});

/** Bindings and settings that each region has for itself. Those of another region than the first database's have a suffix. */
const NEEDED_IN_REGION = [
  "RECORDINGS",
  "AUDIT_LOGS",
  "RECORDINGS_S3_ENDPOINT",
  "RECORDINGS_S3_BUCKET",
  "RECORDINGS_S3_ACCESS_KEY_ID",
  "RECORDINGS_S3_SECRET_ACCESS_KEY",
];

const OF_REGION = [...NEEDED_IN_REGION, "RECORDINGS_S3_REGION"];

export interface RegionOfShard {
  REGION_SUFFIX: string;
  /** The names of the region's bindings and settings that are missing. */
  MISSING_IN_REGION: string[];
}

/** Never falls back to the first region: a missing bucket must not send an organization's files there. */
function inRegionOf(env: object, shard: number): RegionOfShard | undefined {
  const values = env as Record<string, unknown>;
  const regions = readRegions(String(values.SHARD_REGIONS ?? ""));
  if (!regions || regions.get(shard) === regions.get(0)) return undefined;
  const region = regions.get(shard);
  const REGION_SUFFIX = region === undefined ? "" : suffixOfRegion(region);
  const ofRegion = (name: string) => (region === undefined ? undefined : values[name + REGION_SUFFIX]);
  return {
    ...Object.fromEntries(OF_REGION.map((name) => [name, ofRegion(name)])),
    REGION_SUFFIX,
    MISSING_IN_REGION: region === undefined ? ["SHARD_REGIONS"] : missingInRegion(region, values),
  };
}

export const missingInRegion = (region: string, values: Record<string, unknown>): string[] =>
  NEEDED_IN_REGION.map((name) => name + suffixOfRegion(region)).filter((name) => {
    const value = values[name];
    return typeof value === "string" ? value.trim() === "" : !value;
  });

export const isOfRegion = (name: string): boolean => OF_REGION.includes(name);

export const suffixOfRegion = (region: string): string => `_${region.toUpperCase().replaceAll("-", "_")}`;

const REGION_OF_SHARD = new RegExp(`^\\s*(\\d{1,5})=([a-z0-9-]{1,${MAX_REGION_LENGTH}})\\s*$`);

/** @returns the region of each shard, from a text such as `0=us,1=eu`; undefined if the first one or all have none */
export function readRegions(text: string): Map<number, string> | undefined {
  const pairs = text.split(",").map((pair) => REGION_OF_SHARD.exec(pair));
  const regions = new Map(pairs.flatMap((pair) => (pair ? [[Number(pair[1]), String(pair[2])]] : [])));
  return pairs.length === regions.size && regions.has(0) ? regions : undefined;
}

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
