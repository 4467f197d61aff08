/** Migrates the local databases within this process, because wrangler would start a runtime for each migration. */
import { shardsOf } from "../database/shards.ts";
import type { Database } from "./databases.ts";
import { migrationFiles, readText } from "./migrations.ts";
import { rangeStatement, rangeStatements } from "./shard_statements.ts";
import { type Run, runAt, runWith, statementsOf } from "./statement_runner.ts";
import { bindingOf, runWrangler, targetFlags } from "./wrangler.ts";

/** Applies the missing migrations to a database on this machine or at Cloudflare. */
export async function migrate(database: Database) {
  if (!database.remote) return applyMigrations(runAt(database), database.shard);
  const command = ["d1", "migrations", "apply", bindingOf(database.shard), ...targetFlags(database)];
  // Without a terminal, wrangler does not ask again.
  return runWrangler(command, { stdio: ["ignore", "inherit", "inherit"] });
}

/** Migrates all local databases, and gives each but the first a range of ids if it has none. */
export async function migrateDatabases(env: Env) {
  const run = runWith(env);
  await applyMigrations(run);
  for (const shard of shardsOf(env).filter((each) => each > 0)) {
    await applyMigrations(run, shard);
    const [[given] = []] = await run(0, [rangeStatement(shard)]);
    await run(shard, rangeStatements(shard, Number(given?.range)));
  }
}

/** Records the migrations as `wrangler d1 migrations apply --local` would, so that both can be used. Returns those applied. */
export async function applyMigrations(run: Run, shard = 0): Promise<string[]> {
  const [, rows = []] = await run(shard, [
    `CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`,
    "SELECT name FROM d1_migrations",
  ]);
  const applied = rows.map(({ name }) => String(name));
  const files = migrationFiles();
  if (!applied.every((name) => files.includes(name)))
    throw new Error(
      "The local database has another schema. Delete .wrangler/state/v3/d1 (with --persist-to, v3/d1 in that folder), and " +
        "run this again to create a new one.",
    );
  const missing = files.filter((name) => !applied.includes(name));
  for (const file of missing)
    try {
      await run(shard, [
        ...(await statementsOf(readText(`drizzle/${file}`))),
        { sql: "INSERT INTO d1_migrations (name) VALUES (?)", params: [file] },
      ]);
    } catch (error) {
      throw new Error(`The migration ${file} fails: ${(error as Error).message}.`, { cause: error });
    }
  return missing;
}
