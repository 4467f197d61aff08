import { readFileSync } from "node:fs";
import * as schema from "../database/schema.ts";
import { isDeployed, SNAPSHOT } from "./migrations.ts";

/**
 * What drizzle-kit makes of the tables of schema.ts: the statements that lead to them, and their snapshot. Where it does not know
 * whether a column is new or renamed, it asks in the terminal.
 */
export async function schemaChanges(): Promise<{ statements: string[]; snapshot: object }> {
  // Loaded only when it is needed: that takes seconds, also for a command that only says how it is used.
  const { generateSQLiteDrizzleJson, generateSQLiteMigration } = await import("drizzle-kit/api");
  const before = isDeployed()
    ? JSON.parse(readFileSync(SNAPSHOT, "utf8"))
    : await generateSQLiteDrizzleJson({});
  const snapshot = await generateSQLiteDrizzleJson(schema, before.id);
  const statements = await generateSQLiteMigration(before, snapshot);
  // SQLite takes a name in double quotes that names nothing for a text; drizzle-kit writes those of constraints so.
  const inBackticks = statements.map((each) => each.trim().replace(/CONSTRAINT "(\w+)"/g, "CONSTRAINT `$1`"));
  return { statements: inBackticks, snapshot };
}
