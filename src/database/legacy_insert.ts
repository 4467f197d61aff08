// TEMPORARY
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "./database.ts";

type ColumnOf<Table extends SQLiteTable> = keyof Table["$inferInsert"] & string;

/**
 * INSERT … SELECT, by the names of columns: Drizzle alone wants all columns of the table, in its order.
 *
 * @param source SQL from FROM on; where ON CONFLICT follows it must have a WHERE, or SQLite takes that for a join
 * @param taken columns that the source has under the same name
 * @param given what the other columns become, SQL or values; one that is not named becomes null
 */
export function insertFrom<Table extends SQLiteTable>(
  db: Database,
  table: Table,
  source: SQL,
  taken: ColumnOf<Table>[],
  given: Partial<Record<ColumnOf<Table>, unknown>>,
) {
  const names: readonly string[] = taken;
  const values: Record<string, unknown> = given;
  const columns = Object.keys(getTableColumns(table)).map((name) =>
    names.includes(name) ? sql.identifier(name) : sql`${values[name] ?? null}`,
  );
  return db.insert(table).select(sql`select ${sql.join(columns, sql`, `)} ${source}`);
}
