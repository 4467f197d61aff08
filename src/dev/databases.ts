/** Finds the databases that a command works on: the only one, or several (see src/database/shards.ts). */
import { KNOWN_SHARDS, OWN_RANGE } from "./shard_statements.ts";
import { queryDatabase, type Rows } from "./statement_runner.ts";
import { bindingOf, type Target } from "./wrangler.ts";
import { boundShards } from "./wrangler_config.ts";

export type Database = Target & { shard: number };

/** The directory's entry for a database other than the first. */
export interface KnownShard {
  shard: number;
  /** Undefined if the directory gave it no range, but knows organizations that live there. */
  range?: number;
  organizations: number;
}

/**
 * @param known the databases other than the first; read from the directory if left out
 * @throws Error if organizations live in a database that the configuration does not bind
 */
export async function boundDatabases(target: Target, known?: KnownShard[]): Promise<Database[]> {
  const bound = boundShards(target);
  const missing = homesBeside(bound, known ?? (await knownShards(target)));
  const faults = missing.map(
    (each) => `${target.config} binds no ${bindingOf(each.shard)}. ${homeless(each)}`,
  );
  if (faults.length > 0) throw new Error(faults.join("\n"));
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

/** The databases other than the first, from the directory; an empty list if it has no tables. */
export const knownShards = async (target: Target) => (await shardsOfDirectory(target)) ?? [];

/** Like `knownShards`, but returns undefined if the first database lacks the directory's tables. */
export async function shardsOfDirectory(target: Target): Promise<KnownShard[] | undefined> {
  const rows = await rowsUnlessEmpty({ ...target, shard: 0 }, KNOWN_SHARDS);
  return rows?.map(({ shard, range, organizations }) => ({
    shard: Number(shard),
    ...(range !== null && { range: Number(range) }),
    organizations: Number(organizations),
  }));
}

/** The other databases in which organizations live. A command that leaves them out would miss those organizations' data. */
export const homesBeside = (shards: number[], known: KnownShard[]): KnownShard[] =>
  known.filter(({ shard, organizations }) => organizations > 0 && !shards.includes(shard));

/** Advice for a database that is missing, or is not the one that is bound. */
export function homeless({ shard, organizations }: KnownShard): string {
  const [live, whose] = organizations === 1 ? ["organization lives", "its"] : ["organizations live", "their"];
  return `${organizations} ${live} in shard ${shard}: bind ${whose} database, or restore its backup.`;
}

/** Reads the range from the database itself. Undefined if it has none, or no tables. */
export async function ownRange(database: Database, known: KnownShard[]): Promise<number | undefined> {
  const range = (await rowsUnlessEmpty(database, OWN_RANGE))?.[0]?.range;
  if (range === undefined || range === null) return undefined;
  const own = Number(range);
  if (own < (givenRange(database, known) ?? 0))
    throw new Error(
      `${bindingOf(database.shard)} is as it was before an organization moved there. If the move was interrupted, run it again. If the database was restored, restore it from a time after the move. Otherwise it belongs to another service.`,
    );
  return own;
}

/** The range that the directory gave the database. */
export const givenRange = ({ shard }: Database, known: KnownShard[]): number | undefined =>
  known.find((each) => each.shard === shard)?.range;

async function rowsUnlessEmpty(database: Target, query: string): Promise<Rows | undefined> {
  try {
    return (await queryDatabase(database, [query]))[0];
  } catch (error) {
    if ((error as Error).message.includes("no such table")) return undefined;
    throw error;
  }
}
