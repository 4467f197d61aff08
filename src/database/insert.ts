import { getTableColumns, isSQLWrapper, type SQL, sql } from "drizzle-orm";
import { Placeholder } from "drizzle-orm/sql";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { builder, type Value } from "./queries.ts";

/** A value or SQL for each column that an insert wants. */
export type InsertValues<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferInsert"]]: Value<Table["$inferInsert"][Name]>;
};

/**
 * INSERT … SELECT, by the names of columns: Drizzle wants all columns of the table, in its order.
 *
 * @param values what each column becomes; a column that is left out gets its default, or null
 * @param source SQL from FROM on. Before ON CONFLICT it must have a WHERE, or SQLite reads ON as that of a join
 */
export function insertSelect<Table extends SQLiteTable>(
  table: Table,
  values: InsertValues<Table>,
  source: SQL,
) {
  const given: Record<string, unknown> = values;
  const selected = Object.entries(getTableColumns(table)).map(([name, column]) => {
    const value = given[name] ?? column.default ?? null;
    // Values are encoded as the column is; SQL stands as it is.
    return isSQLWrapper(value) && !(value instanceof Placeholder)
      ? sql`${value}`
      : sql`${sql.param(value, column)}`;
  });
  return builder.insert(table).select(sql`select ${sql.join(selected, sql`, `)} ${source}`);
}
