import { FROZEN_AT_MOST } from "../tuning.ts";

/** The commands that write a migration update this name, and a test compares it with drizzle/. */
const NEWEST_MIGRATION = "0000_baseline_85935887.sql";

export interface DatabaseState {
  isUpToDate: boolean;
  isQuiet: boolean;
  frozen: number[];
  /** The first database has neither until an organization moves to it. */
  range: number | null;
  shard: number | null;
  /** In the directory: by the number of the database. */
  ranges: Record<string, number>;
  unbound: number[];
}

const setting = (name: "range" | "shard") => `(select value from database_settings where name = '${name}')`;

const STATE = `select exists (select 1 from d1_migrations where name = ?) as migrated,
  exists (select 1 from database_settings where name = 'quiet') as quiet,
  ${setting("range")} as range, ${setting("shard")} as shard,
  (select json_group_array(organization_id) from moves where shard is null and since < ?) as frozen,
  (select json_group_object(shard, range) from shards) as ranges,
  (select json_group_array(shard) from shards where shard not in (select value from json_each(?))
    and exists (select 1 from places where places.shard = shards.shard and deleted_at is null)) as unbound`;

type StateRow = Pick<DatabaseState, "range" | "shard"> &
  Record<"migrated" | "quiet", number> &
  Record<"frozen" | "ranges" | "unbound", string>;

const UNKNOWN: DatabaseState = {
  isUpToDate: false,
  isQuiet: false,
  frozen: [],
  range: null,
  shard: null,
  ranges: {},
  unbound: [],
};

/** @param bound the numbers of the databases that have a binding */
export async function databaseState(db: D1Database, bound: number[]): Promise<DatabaseState> {
  try {
    const row = await db
      .prepare(STATE)
      .bind(NEWEST_MIGRATION, Date.now() - FROZEN_AT_MOST, JSON.stringify(bound))
      .first<StateRow>();
    if (!row) return UNKNOWN;
    const { migrated, quiet, frozen, ranges, unbound, ...own } = row;
    return {
      ...own,
      isUpToDate: migrated === 1,
      isQuiet: quiet === 1,
      frozen: JSON.parse(frozen),
      ranges: JSON.parse(ranges),
      unbound: JSON.parse(unbound),
    };
  } catch (error) {
    if (error instanceof Error && error.message.includes("no such table")) return UNKNOWN;
    throw error;
  }
}
