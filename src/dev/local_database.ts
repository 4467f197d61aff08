/** The local database, reached within this process: each command of wrangler would start a runtime of its own. */
import { join } from "node:path";
import { envOfShard, shardsOf } from "../database/shards.ts";
import { migrationFiles, readText } from "./migrations.ts";
import { rangeStatement, rangeStatements } from "./shard_statements.ts";

interface LocalState {
  persistTo: string;
  config?: string;
  environment?: string;
}

/** Runs something with the bindings of the Worker, and the local data that a server with the same flags has. */
export async function withLocalBindings(state: LocalState, run: (env: Env) => Promise<void>) {
  const { env, dispose } = await openLocalBindings(state);
  try {
    await run(env);
  } finally {
    await dispose();
  }
}

/** The same bindings, until `dispose` is called: before, the process does not end. */
export async function openLocalBindings({ persistTo, config = "wrangler.toml", environment }: LocalState) {
  const outer = process.env;
  process.env = { ...outer, WRANGLER_LOG: "error" };
  try {
    // Loaded only when it is needed: that takes seconds, also for a command that only says how it is used.
    const { getPlatformProxy } = await import("wrangler");
    return await getPlatformProxy<Env>({
      configPath: config,
      environment,
      persist: { path: join(persistTo, "v3") },
    });
  } finally {
    process.env = outer;
  }
}

/** Migrates all databases, and gives all but the first a range of ids, if they have none. */
export async function migrateDatabases(env: Env) {
  await applyMigrations(env.DB);
  for (const shard of shardsOf(env).filter((each) => each > 0)) {
    const { DB } = envOfShard(env, shard);
    await applyMigrations(DB);
    const range = await env.DB.prepare(rangeStatement(shard)).first<number>("range");
    await DB.batch(rangeStatements(shard, Number(range)).map((statement) => DB.prepare(statement)));
  }
}

/**
 * Leaves what `wrangler d1 migrations apply --local` would leave, so that its command agrees afterwards.
 *
 * @throws Error if the database has run a migration that is not in `drizzle`
 */
export async function applyMigrations(db: D1Database) {
  await db
    .prepare(
      `CREATE TABLE IF NOT EXISTS "d1_migrations"(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`,
    )
    .run();
  const { results } = await db.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = results.map(({ name }) => name);
  const files = migrationFiles();
  if (!applied.every((name) => files.includes(name)))
    throw new Error(
      "The local database has another schema. Delete .wrangler/state/v3/d1 (with --persist-to, v3/d1 in that folder), and " +
        "run this again: it makes a new one.",
    );
  const { unstable_splitSqlQuery } = await import("wrangler");
  for (const file of files.filter((name) => !applied.includes(name)))
    try {
      await db.batch([
        ...unstable_splitSqlQuery(readText(`drizzle/${file}`)).map((statement) => db.prepare(statement)),
        db.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(file),
      ]);
    } catch (error) {
      throw new Error(`The migration ${file} fails: ${(error as Error).message}.`, { cause: error });
    }
}
