/** Which databases a command works on: the one, or all of several (see src/database/shards.ts). */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { KNOWN_SHARDS, OWN_RANGE } from "./shard_statements.ts";
import { bindingOf, queryDatabase, type Target } from "./wrangler.ts";
import {
  boundShards,
  databaseName,
  migrationsOf,
  requireExtensible,
  stateFolder,
  withDatabase,
} from "./wrangler_config.ts";

/** One of the databases. */
export type Database = Target & { shard: number };

/** A database beside the first one, as the directory knows it. */
export interface KnownShard {
  shard: number;
  /** Undefined if the directory has given it none: then it knows organizations that live there. */
  range?: number;
  organizations: number;
}

/**
 * What the configuration binds: all that is deployed.
 *
 * @throws Error if organizations live in a database that it does not bind
 */
export function boundDatabases(target: Target): Database[] {
  const bound = boundShards(target);
  requireHomes(target, bound, knownShards(target));
  return bound.map((shard) => ({ ...target, shard }));
}

/**
 * All databases: of local ones also those that `npm run dev -- --shards` has made, and the configuration does not bind.
 *
 * @throws Error if organizations live in a remote one that it does not bind
 */
export function allDatabases(target: Target): Database[] {
  const known = knownShards(target);
  const shards = shardsThatThereAre(target, known);
  requireHomes(target, shards, known);
  return theseDatabases(target, shards);
}

/** @throws Error if there is no database with this number */
export function oneDatabase(target: Target, shard: number): Database[] {
  const bound = boundShards(target);
  const shards = bound.includes(shard) ? bound : shardsThatThereAre(target, knownShards(target));
  if (!shards.includes(shard)) throw new Error(`There is no shard ${shard}, but ${shards.join(", ")}.`);
  return theseDatabases(target, [shard]);
}

/**
 * These databases, whether or not the configuration binds local ones.
 *
 * @throws Error for a remote one that it does not bind
 */
export function theseDatabases(target: Target, shards: number[]): Database[] {
  const bound = boundShards(target);
  const others = shards.filter((shard) => !bound.includes(shard));
  if (others.length > 0 && target.remote)
    throw new Error(`${target.config} binds no ${others.map(bindingOf).join(" and no ")}.`);
  const binding = others.length > 0 ? bindingToo(target, others) : target;
  return shards.map((shard) => ({ ...binding, shard }));
}

function shardsThatThereAre(target: Target, known: KnownShard[]): number[] {
  const bound = boundShards(target);
  if (target.remote) return bound;
  // One that was never finished has a range, but neither organizations nor a file.
  const mayBeThere = localFiles(target).length > bound.length;
  const others = known.filter(({ organizations }) => organizations > 0 || mayBeThere);
  return [...new Set([...bound, ...others.map(({ shard }) => shard)])].sort((a, b) => a - b);
}

/** wrangler keeps each local database in a file. */
function localFiles(target: Target): string[] {
  const files = join(stateFolder(target), "v3/d1/miniflare-D1DatabaseObject");
  return existsSync(files) ? readdirSync(files).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name)) : [];
}

/** Whether there is a database to ask: to ask a local one makes it. */
export const isThere = (target: Target): boolean => target.remote === true || localFiles(target).length > 0;

/** The other databases, as the directory knows them: none, if it has no tables. */
export function knownShards(target: Target): KnownShard[] {
  if (!isThere(target)) return [];
  const rows = unlessEmpty(() => queryDatabase({ ...target, shard: 0 }, [KNOWN_SHARDS]))?.[0] ?? [];
  return rows.map(({ shard, range, organizations }) => ({
    shard: Number(shard),
    ...(range !== null && { range: Number(range) }),
    organizations: Number(organizations),
  }));
}

/** Left out, or taken for another one, a database would lack what its organizations have. */
function requireHomes(target: Target, shards: number[], known: KnownShard[]) {
  const homes = known.filter(({ shard, organizations }) => organizations > 0 && !shards.includes(shard));
  if (homes.length === 0) return;
  const reasons = homes.map(
    (each) => `${target.config} binds no ${bindingOf(each.shard)}. ${homeless(each)}`,
  );
  throw new Error(reasons.join("\n"));
}

/** What to do about a database that is missing, or in whose place another one is bound. */
export const homeless = ({ shard, organizations }: KnownShard): string =>
  organizations === 1
    ? `1 organization lives in shard ${shard}: bind its database, or restore its backup.`
    : `${organizations} organizations live in shard ${shard}: bind their database, or restore its backup.`;

/** The range as the database itself knows it, or undefined if it has none, or no tables. */
export function ownRange(database: Database): number | undefined {
  const range = unlessEmpty(() => queryDatabase(database, [OWN_RANGE]))?.[0]?.[0]?.range;
  return range === undefined || range === null ? undefined : Number(range);
}

/** What a query returns, or undefined if the database has no tables yet. */
export function unlessEmpty<Result>(query: () => Result): Result | undefined {
  try {
    return query();
  } catch (error) {
    if ((error as Error).message.includes("no such table")) return undefined;
    throw error;
  }
}

/** The target with a configuration that binds more databases. It goes when this process ends. */
export function bindingToo(target: Target, shards: number[]): Target {
  const folder = mkdtempSync(join(tmpdir(), "databases-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, configurationWith(target, shards));
  return { ...target, config, ...(!target.remote && { "persist-to": stateFolder(target) }) };
}

/** The text of a configuration that binds more databases. */
export function configurationWith(target: Target, shards: number[]): string {
  requireExtensible(target.config);
  const migrations = resolve(dirname(target.config), migrationsOf(target));
  return shards.reduce(
    (toml, shard) => withDatabase(toml, target.env, shard, databaseName(target, shard), migrations),
    readFileSync(target.config, "utf8"),
  );
}
