/** Which databases a command works on: the one, or all of several (see src/database/shards.ts). */
import { KNOWN_SHARDS, OWN_RANGE } from "./shard_statements.ts";
import { queryDatabase, type Rows } from "./statement_runner.ts";
import { bindingOf, type Target } from "./wrangler.ts";
import { boundShards } from "./wrangler_config.ts";

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
 * All databases: those that the configuration binds.
 *
 * @param known the other databases, as the directory knows them
 * @throws Error if organizations live in a database that it does not bind
 */
export async function boundDatabases(target: Target, known?: KnownShard[]): Promise<Database[]> {
  const bound = boundShards(target);
  const missing = homesBeside(bound, known ?? (await knownShards(target)));
  if (missing.length > 0)
    throw new Error(
      missing
        .map((each) => `${target.config} binds no ${bindingOf(each.shard)}. ${homeless(each)}`)
        .join("\n"),
    );
  return bound.map((shard) => ({ ...target, shard }));
}

/** @throws Error if the configuration does not bind one of these databases */
export function theseDatabases(target: Target, shards: number[]): Database[] {
  const bound = boundShards(target);
  const missing = shards.filter((shard) => !bound.includes(shard));
  if (missing.length > 0)
    throw new Error(`${target.config} binds no ${missing.map(bindingOf).join(" and no ")}.`);
  return shards.map((shard) => ({ ...target, shard }));
}

/** The other databases, as the directory knows them: none, if it has no tables. */
export const knownShards = async (target: Target): Promise<KnownShard[]> =>
  (await shardsOfDirectory(target)) ?? [];

/** The same; undefined if the first database has not the tables of a directory. */
export async function shardsOfDirectory(target: Target): Promise<KnownShard[] | undefined> {
  const rows = await rowsUnlessEmpty({ ...target, shard: 0 }, KNOWN_SHARDS);
  return rows?.map(({ shard, range, organizations }) => ({
    shard: Number(shard),
    ...(range !== null && { range: Number(range) }),
    organizations: Number(organizations),
  }));
}

/** The databases beside these in which organizations live: left out, they would lack what their organizations have. */
export const homesBeside = (shards: number[], known: KnownShard[]): KnownShard[] =>
  known.filter(({ shard, organizations }) => organizations > 0 && !shards.includes(shard));

/** What to do about a database that is missing, or in whose place another one is bound. */
export const homeless = ({ shard, organizations }: KnownShard): string =>
  organizations === 1
    ? `1 organization lives in shard ${shard}: bind its database, or restore its backup.`
    : `${organizations} organizations live in shard ${shard}: bind their database, or restore its backup.`;

/**
 * The range as the database itself knows it, or undefined if it has none, or no tables.
 *
 * @throws Error if it is older than the one that the directory gave it, for an organization that moved there
 */
export async function ownRange(database: Database, known: KnownShard[]): Promise<number | undefined> {
  const range = (await rowsUnlessEmpty(database, OWN_RANGE))?.[0]?.range;
  if (range === undefined || range === null) return undefined;
  const own = Number(range);
  if (own < (givenRange(database, known) ?? 0))
    throw new Error(
      `${bindingOf(database.shard)} is as it was before an organization moved there. If the move was interrupted, run it again. If the database was restored, restore it from a time after the move. Or it is a database of another service.`,
    );
  return own;
}

/** The range as the directory knows it. */
export const givenRange = ({ shard }: Database, known: KnownShard[]): number | undefined =>
  known.find((each) => each.shard === shard)?.range;

/** The rows of a query, or undefined if the database has no tables yet. */
async function rowsUnlessEmpty(database: Target, query: string): Promise<Rows | undefined> {
  try {
    return (await queryDatabase(database, [query]))[0];
  } catch (error) {
    if ((error as Error).message.includes("no such table")) return undefined;
    throw error;
  }
}
