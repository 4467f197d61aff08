import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { insertSelect, jsonField, replaceAllBut } from "./insert.ts";
import { type BoundQuery, type Placeholders, preparedQuery } from "./queries.ts";

/**
 * The statement that writes any number of rows of a table, new ones and known ones. They are one parameter, as JSON: whole
 * rows, because a column that one leaves out becomes null. The id of a known row stays, and so does when it was created.
 *
 * @param key the columns of the unique index by which a row is known
 * @param generated columns that the database makes from the fields of a row; a row may have fields that are no columns
 * @param indexed the WHERE of that index, if it is partial
 */
export function manyRowWrites<Table extends SQLiteTable, Fields extends object = Table["$inferInsert"]>(
  table: Table,
  key: (keyof Table["_"]["columns"] & string)[],
  generated: Record<string, (of: (field: keyof Fields & string) => SQL) => SQL> = {},
  indexed?: SQL,
): (rows: Fields[]) => BoundQuery<unknown> {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  const names = Object.keys(columns).filter((name) => name !== "id");
  const values = Object.fromEntries(
    names.map((name) => [name, generated[name]?.(jsonField) ?? jsonField(name)]),
  );
  const write = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
    insertSelect(table, values as never, sql`from json_each(${rows}) as item where true`).onConflictDoUpdate({
      target: key.map((name) => columns[name] as SQLiteColumn),
      ...(indexed && { targetWhere: indexed }),
      set: replaceAllBut(table, ["id", "created_at", ...key]),
    }),
  );
  return (rows) => write({ rows: JSON.stringify(rows) });
}
