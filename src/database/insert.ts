import { getTableColumns, isSQLWrapper, type SQL, type SQLWrapper, type Subquery, sql } from "drizzle-orm";
import { Placeholder } from "drizzle-orm/sql";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type BoundQuery, builder, type Placeholders, preparedQuery, type Value } from "./queries.ts";

/** A value or SQL for each column that an insert wants. */
type InsertValues<Table extends SQLiteTable> = {
  [Name in keyof Table["$inferInsert"]]: Value<Table["$inferInsert"][Name]>;
};

/** The rows that an INSERT … SELECT makes a row of: without FROM, it is one. */
export interface Source {
  from?: SQLiteTable | Subquery | SQL;
  where?: SQL | undefined;
}

/**
 * INSERT … SELECT, by the names of columns: Drizzle wants all columns of the table, in its order.
 *
 * @param values what each column becomes; a column that is left out gets its default, or null
 */
export function insertSelect<Table extends SQLiteTable>(
  table: Table,
  values: InsertValues<Table>,
  { from, where }: Source = {},
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
  // Without a WHERE, SQLite reads the ON of ON CONFLICT as that of a join.
  const rows = sql`${from && sql`from ${from}`} where ${where ?? sql`true`}`;
  return builder.insert(table).select(sql`select ${sql.join(selected, sql`, `)} ${rows}`);
}

/** The rows of a JSON array, for FROM. */
export const jsonRows = (rows: SQLWrapper): SQL => sql`json_each(${rows}) as item`;

/** A row of `jsonRows` that is a number or a text. */
export const jsonValue = sql`item.value`;

/** A field of a row of `jsonRows` that is an object. */
export const jsonField = (name: string): SQL => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;

/** Each column of a table, as a field of such a row. */
export function jsonFields<Table extends SQLiteTable>(
  table: Table,
): Record<keyof Table["_"]["columns"], SQL> {
  const names = Object.keys(getTableColumns(table));
  return Object.fromEntries(names.map((name) => [name, jsonField(name)])) as Record<
    keyof Table["_"]["columns"],
    SQL
  >;
}

/** Each column of a table but its id, as the value of this name. */
export function valuesFor<Table extends SQLiteTable, Values>(table: Table, values: Placeholders<Values>) {
  const names = Object.keys(getTableColumns(table)).filter((name) => name !== "id");
  return Object.fromEntries(
    names.map((name) => [name, values[name as keyof typeof values]]),
  ) as unknown as Placeholders<Values>;
}

/** For ON CONFLICT DO UPDATE: the value of the row that was to be inserted. */
export const excluded = ({ name }: SQLiteColumn): SQL => sql`excluded.${sql.identifier(name)}`;

/** For ON CONFLICT DO UPDATE: replaces each column by that of the row that was to be inserted, except the unchanged ones. */
export function replaceAllBut(table: SQLiteTable, unchanged: string[]): Record<string, SQL> {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !unchanged.includes(name));
  return Object.fromEntries(columns.map(([name, column]) => [name, excluded(column)]));
}

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
    insertSelect(table, values as never, { from: jsonRows(rows) }).onConflictDoUpdate({
      target: key.map((name) => columns[name] as SQLiteColumn),
      ...(indexed && { targetWhere: indexed }),
      set: replaceAllBut(table, ["id", "created_at", ...key]),
    }),
  );
  return (rows) => write({ rows: JSON.stringify(rows) });
}
