/** The commands that write a migration keep it, and a test compares it with drizzle/. */
const NEWEST_MIGRATION = "0000_baseline_0bb1a457.sql";

/** What monitoring must know of a database. */
interface DatabaseState {
  /** Has it run the newest migration that this code knows? */
  isUpToDate: boolean;
  /** Has it a range of ids of its own? The first database needs none. */
  hasRange: boolean;
  isQuiet: boolean;
}

/** wrangler keeps the list of migrations in `d1_migrations`. */
const STATE = `select exists (select 1 from d1_migrations where name = ?) as migrated,
  exists (select 1 from database_settings where name = 'quiet') as quiet,
  exists (select 1 from database_settings where name = 'range') as has_range`;

export async function databaseState(db: D1Database): Promise<DatabaseState> {
  try {
    const row = await db.prepare(STATE).bind(NEWEST_MIGRATION).first();
    return { isUpToDate: row?.migrated === 1, hasRange: row?.has_range === 1, isQuiet: row?.quiet === 1 };
  } catch (error) {
    if (error instanceof Error && error.message.includes("no such table"))
      return { isUpToDate: false, hasRange: false, isQuiet: false };
    throw error;
  }
}
