/** Which databases a command works on: the one, or all of several (see src/database/shards.ts). */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { SHARDS } from "./shard_statements.ts";
import { bindingOf, queryDatabase, type Target } from "./wrangler.ts";
import {
  boundShards,
  databaseBlock,
  databaseName,
  migrationsOf,
  requireToml,
  stateOf,
  withDatabase,
} from "./wrangler_config.ts";

/** One of the databases. */
export type Database = Target & { shard: number };

/** What the configuration binds: all that is deployed. */
export const boundDatabases = (target: Target): Database[] =>
  boundShards(target).map((shard) => ({ ...target, shard }));

/** All databases: of local ones also those that `npm run dev -- --shards` has made, and the configuration does not bind. */
export const allDatabases = (target: Target): Database[] => theseDatabases(target, allShards(target));

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

function allShards(target: Target): number[] {
  const bound = boundShards(target);
  // wrangler keeps each local database in a file.
  const files = join(stateOf(target), "v3/d1/miniflare-D1DatabaseObject");
  if (target.remote || !existsSync(files)) return bound;
  const databases = readdirSync(files).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  if (databases.length <= bound.length) return bound;
  const known = knownShards(target).map(({ shard }) => shard);
  return [...new Set([...bound, ...known])].sort((a, b) => a - b);
}

/** The other databases, as the directory knows them: none, if it has no tables. */
export function knownShards(target: Target): { shard: number; range: number }[] {
  const [rows = []] = unlessEmpty(() => queryDatabase({ ...target, shard: 0 }, [SHARDS])) ?? [];
  return rows.map(({ shard, range }) => ({ shard: Number(shard), range: Number(range) }));
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
  return { ...target, config, ...(!target.remote && { "persist-to": stateOf(target) }) };
}

/** The text of a configuration that binds more databases. */
export function configurationWith(target: Target, shards: number[]): string {
  requireToml(target.config);
  const migrations = resolve(dirname(target.config), migrationsOf(target));
  return shards.reduce(
    (toml, shard) =>
      withDatabase(
        toml,
        target.env,
        databaseBlock(target.env, shard, databaseName(target, shard), migrations),
      ),
    readFileSync(target.config, "utf8").replaceAll("\r\n", "\n"),
  );
}
