/** The commands that write a migration keep it, and a test compares it with drizzle/. */
const NEWEST_MIGRATION = "0000_baseline_84c34ec9.sql";

/** Has the database run the newest migration that this code knows? wrangler keeps the list in `d1_migrations`. */
export async function isUpToDate(db: D1Database): Promise<boolean> {
  try {
    const row = await db.prepare("select 1 from d1_migrations where name = ?").bind(NEWEST_MIGRATION).first();
    return row !== null;
  } catch (error) {
    if (error instanceof Error && error.message.includes("no such table")) return false;
    throw error;
  }
}
