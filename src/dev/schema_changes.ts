import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { isDeployed, SNAPSHOT, sourceFiles } from "./migrations.ts";

/** The tables and views of every `*.table.ts`. */
export async function allTables(): Promise<Record<string, unknown>> {
  const modules = await Promise.all(sourceFiles(".table.ts").map((file) => import(pathToFileURL(file).href)));
  return Object.assign({}, ...modules);
}

/**
 * Generates the statements from the last snapshot to the tables of src, and a new snapshot. drizzle-kit asks in the
 * terminal if it cannot know whether a column is new or renamed.
 */
export async function schemaChanges(): Promise<{ statements: string[]; snapshot: object }> {
  // Imported only here, because that takes seconds: `--help` must not wait for it.
  const { generateSQLiteDrizzleJson, generateSQLiteMigration } = await import("drizzle-kit/api");
  const before = isDeployed()
    ? JSON.parse(readFileSync(SNAPSHOT, "utf8"))
    : await generateSQLiteDrizzleJson({});
  const snapshot = await generateSQLiteDrizzleJson(await allTables(), before.id);
  const statements = await generateSQLiteMigration(before, snapshot);
  // SQLite reads an unknown name in double quotes as a string, and drizzle-kit puts constraint names in double quotes.
  const inBackticks = statements.map((each) => each.trim().replace(/CONSTRAINT "(\w+)"/g, "CONSTRAINT `$1`"));
  return { statements: inBackticks, snapshot };
}
