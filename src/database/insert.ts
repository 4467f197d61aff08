import { getTableColumns, isSQLWrapper, type SQL, sql } from "drizzle-orm";
import { Placeholder } from "drizzle-orm/sql";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { builder, type Value } from "./queries.ts";

/** A value or SQL for each column that an insert wants. */
type InsertValues<Table extends SQLiteTable> = {
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
  // Drizzle leaves out those that SQLite computes.
  const columns = Object.entries(getTableColumns(table)).filter(([, column]) => !column.generated);
  const selected = columns.map(([name, column]) => {
    const value = values[name as keyof typeof values] ?? column.default ?? null;
    // Values are encoded as the column is; SQL stands as it is.
    return isSQLWrapper(value) && !(value instanceof Placeholder)
      ? sql`${value}`
      : sql`${sql.param(value, column)}`;
  });
  return builder.insert(table).select(sql`select ${sql.join(selected, sql`, `)} ${source}`);
}

/** Each column of a table as it stands in a row of `json_each(…) as item`, where rows are JSON objects. */
export function jsonFields<Table extends SQLiteTable>(
  table: Table,
): Record<keyof Table["_"]["columns"], SQL> {
  const names = Object.keys(getTableColumns(table));
  return Object.fromEntries(names.map((name) => [name, jsonField(name)])) as Record<
    keyof Table["_"]["columns"],
    SQL
  >;
}

export const jsonField = (name: string): SQL => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;

/** For ON CONFLICT DO UPDATE: replaces each column by that of the row that was to be inserted, except the unchanged ones. */
export function replaceAllBut(table: SQLiteTable, unchanged: string[]): Record<string, SQL> {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !unchanged.includes(name));
  return Object.fromEntries(
    columns.map(([name, column]) => [name, sql`excluded.${sql.identifier(column.name)}`]),
  );
}
