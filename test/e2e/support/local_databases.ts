import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Opens all local databases. wrangler keeps each in a file. */
function openFiles(state: string): DatabaseSync[] {
  const folder = join(state, "v3/d1/miniflare-D1DatabaseObject");
  const files = readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
  return files.map((file) => new DatabaseSync(join(folder, file)));
}

export function openDatabase(state: string): DatabaseSync {
  const [database, ...others] = openFiles(state);
  if (!database || others.length > 0) throw new Error(`${state} has ${others.length + 1} databases`);
  return database;
}

/** Opens the local databases, by their shard numbers. The first one may have none. */
function openDatabases(state: string): Map<number, DatabaseSync> {
  const databases = openFiles(state).map((database): [number, DatabaseSync] => {
    const shard = database.prepare("select value from database_settings where name = 'shard'").get();
    return [Number(shard?.value ?? 0), database];
  });
  return new Map(databases.sort(([a], [b]) => a - b));
}

export function withDatabases<T>(state: string, run: (databases: Map<number, DatabaseSync>) => T): T {
  const databases = openDatabases(state);
  try {
    return run(databases);
  } finally {
    for (const database of databases.values()) database.close();
  }
}

export const rowsIn = (database: DatabaseSync | undefined, table: string): string[] =>
  (database?.prepare(`select * from "${table}"`).all() ?? []).map((row) => JSON.stringify(row)).sort();

/** The tables of a database, without those of SQLite and D1. */
export const tablesIn = (database: DatabaseSync): string[] =>
  database
    .prepare("select name from pragma_table_list where schema = 'main' and type = 'table'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !/^(sqlite_|_cf_)/.test(name));
