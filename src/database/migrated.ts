/** The commands that write a migration keep it, and a test compares it with drizzle/. */
const NEWEST_MIGRATION = "0000_baseline_00ec82f9.sql";

/** What monitoring must know of a database. */
export interface DatabaseState {
  /** Has it run the newest migration that this code knows? */
  isUpToDate: boolean;
  isQuiet: boolean;
  /** Its range of ids, and its number: the first database has none. */
  range: number | null;
  shard: number | null;
  /** In the directory: the ranges of the other databases, by their numbers. */
  ranges: Record<string, number>;
  /** In the directory: databases that have organizations, and no binding. */
  unbound: number[];
}

const setting = (name: "range" | "shard") => `(select value from database_settings where name = '${name}')`;

/** wrangler keeps the list of migrations in `d1_migrations`. */
const STATE = `select exists (select 1 from d1_migrations where name = ?) as migrated,
  exists (select 1 from database_settings where name = 'quiet') as quiet,
  ${setting("range")} as range, ${setting("shard")} as shard,
  (select json_group_object(shard, range) from shards) as ranges,
  (select json_group_array(shard) from shards where shard not in (select value from json_each(?))
    and exists (select 1 from places where places.shard = shards.shard)) as unbound`;

interface StateRow {
  migrated: number;
  quiet: number;
  range: number | null;
  shard: number | null;
  ranges: string;
  unbound: string;
}

const UNKNOWN: DatabaseState = {
  isUpToDate: false,
  isQuiet: false,
  range: null,
  shard: null,
  ranges: {},
  unbound: [],
};

/** @param bound the numbers of the databases that are bound */
export async function databaseState(db: D1Database, bound: number[]): Promise<DatabaseState> {
  try {
    const row = await db.prepare(STATE).bind(NEWEST_MIGRATION, JSON.stringify(bound)).first<StateRow>();
    if (!row) return UNKNOWN;
    const { migrated, quiet, range, shard, ranges, unbound } = row;
    return {
      isUpToDate: migrated === 1,
      isQuiet: quiet === 1,
      range,
      shard,
      ranges: JSON.parse(ranges),
      unbound: JSON.parse(unbound),
    };
  } catch (error) {
    if (error instanceof Error && error.message.includes("no such table")) return UNKNOWN;
    throw error;
  }
}
