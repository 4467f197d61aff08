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

/** Each column of a table as it stands in a row of `json_each(…) as item`, where rows are JSON objects. */
export function jsonFields<Table extends SQLiteTable>(
  table: Table,
): Record<keyof Table["_"]["columns"], SQL> {
  return columnsAs(table, (name) => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`);
}

/** For ON CONFLICT DO UPDATE: takes over each column of the row that was to be inserted, except those named. */
export function replaceAllBut<Table extends SQLiteTable>(
  table: Table,
  kept: (keyof Table["_"]["columns"])[],
): Record<string, SQL> {
  const columns = columnsAs(table, (name) => sql`excluded.${sql.identifier(name)}`);
  for (const name of kept) delete columns[name];
  return columns;
}

function columnsAs<Table extends SQLiteTable>(table: Table, as: (name: string) => SQL) {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => [name, as(column.name)]);
  return Object.fromEntries(columns) as Record<keyof Table["_"]["columns"], SQL>;
}
