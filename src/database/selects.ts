import { and, eq, max, type SQL, type SQLWrapper } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { hasValues } from "./expressions.ts";
import { builder, type Placeholders, type PreparedQuery, preparedQuery, type Row } from "./queries.ts";

/* What most statements are: the rows of one table that have some values. */

/** Selects a column of the rows of its table for which all these conditions are true. */
export function selectColumn<Selected extends SQLiteColumn>(
  column: Selected,
  ...conditions: (SQLWrapper | undefined)[]
) {
  const selection = { [column.name]: column } as Record<Selected["_"]["name"], Selected>;
  return builder
    .select(selection)
    .from(column.table)
    .where(and(...conditions));
}

/** Selects the highest id of a table: in a transaction, that of the row which it has just inserted. */
export const newestId = (table: SQLiteTable & { id: SQLiteColumn }) =>
  builder.select({ id: max(table.id) }).from(table);

/** True for that row. */
export const isNewest = (table: SQLiteTable & { id: SQLiteColumn }): SQL => eq(table.id, newestId(table));

type Names<Table extends SQLiteTable> = keyof Table["$inferSelect"] & string;

const hasValuesOf = <Table extends SQLiteTable>(
  table: Table,
  names: string[],
  values: Placeholders<Record<string, unknown>>,
) => hasValues(table, Object.fromEntries(names.map((name) => [name, values[name]])) as object);

/** The query for the rows that have the given values in these columns. */
export const rowsBy = <
  Table extends SQLiteTable,
  Columns extends Record<string, SQLiteColumn | SQL.Aliased>,
  Name extends Names<Table>,
>(
  table: Table,
  columns: Columns,
  ...names: Name[]
): PreparedQuery<Pick<Table["$inferSelect"], Name>, Row<Columns>> =>
  preparedQuery((values: Placeholders<Record<string, unknown>>) =>
    builder
      .select(columns)
      .from(table)
      .where(hasValuesOf(table, names, values)),
  ) as never;

/** The statement that deletes such rows. It returns these values of each. */
export const deleteBy = <Table extends SQLiteTable, Name extends Names<Table>>(
  table: Table,
  ...names: Name[]
): PreparedQuery<Pick<Table["$inferSelect"], Name>, Pick<Table["$inferSelect"], Name>> =>
  preparedQuery((values: Placeholders<Record<string, unknown>>) => {
    const columns = Object.fromEntries(
      names.map((name) => [name, table[name as keyof Table] as SQLiteColumn]),
    );
    return builder
      .delete(table)
      .where(hasValuesOf(table, names, values))
      .returning(columns);
  }) as never;
