import { getTableColumns, isSQLWrapper, type SQL, type SQLWrapper, type Subquery, sql } from "drizzle-orm";
import { Placeholder } from "drizzle-orm/sql";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { type BoundQuery, builder, type Placeholders, preparedQuery, type Values } from "./queries.ts";

/** Every column except those that the database makes, so that the compiler names each place that must set a new column. */
export type NewRow<Table extends SQLiteTable> = Required<Omit<Table["$inferInsert"], "id">>;

type InsertValues<Table extends SQLiteTable> = Values<NewRow<Table>> & { id?: SQLWrapper };

/** INSERT … SELECT inserts a row for each of these rows. Without FROM, it inserts one row. */
export interface Source {
  from?: SQLiteTable | Subquery | SQL;
  where?: SQL | undefined;
}

/** Drizzle's own requires all columns in the table's order. */
export function insertSelect<Table extends SQLiteTable>(
  table: Table,
  values: InsertValues<Table>,
  { from, where }: Source = {},
) {
  // Drizzle omits the columns that SQLite computes.
  const columns = Object.entries(getTableColumns(table)).filter(([, column]) => !column.generated);
  const selected = columns.map(([name, column]) => {
    const value = values[name as keyof typeof values] ?? null;
    // Values get the column's encoding; SQL stays as it is.
    return isSQLWrapper(value) && !(value instanceof Placeholder)
      ? sql`${value}`
      : sql`${sql.param(value, column)}`;
  });
  // Without a WHERE, SQLite would parse the ON of ON CONFLICT as the ON of a join.
  const rows = sql`${from && sql`from ${from}`} where ${where ?? sql`true`}`;
  return builder.insert(table).select(sql`select ${sql.join(selected, sql`, `)} ${rows}`);
}

/** The elements of a JSON array as rows, for FROM. */
export const jsonRows = (rows: SQLWrapper): SQL => sql`json_each(${rows}) as item`;

/** A row of `jsonRows`, if the elements are numbers or texts. */
export const jsonValue = sql`item.value`;

/** A field of a row of `jsonRows`, if the elements are objects. */
export const jsonField = (name: string): SQL => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;

/** Each column of a table except its id, from the field with its name. */
export const jsonFields = <Table extends SQLiteTable>(table: Table) =>
  columnsFrom(table, jsonField) as Record<keyof NewRow<Table>, SQL>;

/** Each column of a table except its id, from the value with its name. */
export const valuesFor = <Values>(table: SQLiteTable, values: Placeholders<Values>) =>
  columnsFrom(table, (name) => values[name as keyof typeof values]) as Placeholders<Values>;

function columnsFrom(table: SQLiteTable, value: (name: string) => unknown): object {
  const names = Object.keys(getTableColumns(table)).filter((name) => name !== "id");
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

export const excluded = ({ name }: SQLiteColumn): SQL => sql`excluded.${sql.identifier(name)}`;

/** For ON CONFLICT DO UPDATE: takes every column except the unchanged ones from the row that conflicts. */
export function replaceAllBut(table: SQLiteTable, unchanged: string[]): Record<string, SQL> {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !unchanged.includes(name));
  return Object.fromEntries(columns.map(([name, column]) => [name, excluded(column)]));
}

interface RowsOptions<Table extends SQLiteTable> {
  /** SQL for columns that the database computes from the fields of a row; these fields need not be columns. */
  computed?: Partial<Record<keyof NewRow<Table>, SQLWrapper>>;
  where?: SQL;
  /** A row with the same values in the columns of this unique index is updated. It keeps its id and `created_at`. */
  uniqueBy?: (keyof Table["_"]["columns"] & string)[];
  indexed?: SQL;
}

/** Any number of rows are one JSON parameter. */
export function insertRows<Table extends SQLiteTable, Row = NewRow<Table>>(
  table: Table,
  { computed, where, uniqueBy, indexed }: RowsOptions<Table> = {},
): (rows: Row[]) => BoundQuery<unknown> {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table);
  const write = preparedQuery(({ rows }: Placeholders<{ rows: string }>) => {
    const values = { ...jsonFields(table), ...computed } as InsertValues<Table>;
    const insert = insertSelect(table, values, { from: jsonRows(rows), where });
    if (!uniqueBy) return insert;
    return insert.onConflictDoUpdate({
      target: uniqueBy.map((name) => columns[name] as SQLiteColumn),
      ...(indexed && { targetWhere: indexed }),
      set: replaceAllBut(table, ["id", "created_at", ...uniqueBy]),
    });
  });
  return (rows) => write({ rows: JSON.stringify(rows) });
}
