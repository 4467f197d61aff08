import { DatabaseSync } from "node:sqlite";
import { tablesParentsFirst } from "./backup_statements.ts";
import type { Rows } from "./statement_runner.ts";

/** The `hidden` of a computed column in `pragma_table_xinfo`. */
const COMPUTED = 2;

export interface Table {
  name: string;
  columns: { name: string; type: string; isStored: boolean }[];
}

/** The tables of a schema, parents first. The schema does not include the tables of SQLite and D1 themselves. */
export function tablesOf(schema: Rows): Table[] {
  const database = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  for (const { type, sql } of schema) if (type === "table") database.exec(String(sql));
  const columns = database.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?)");
  const tables = tablesParentsFirst(database).map((name) => ({
    name,
    columns: columns.all(name).map(({ name, type, hidden }) => ({
      name: String(name),
      type: String(type),
      isStored: hidden !== COMPUTED,
    })),
  }));
  database.close();
  return tables;
}
