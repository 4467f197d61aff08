import {
  and,
  type Column,
  eq,
  type GetColumnData,
  isSQLWrapper,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Value } from "./queries.ts";

/* SQLite expressions that Drizzle lacks. A value that is not SQL becomes a literal in the text. */

type DataOf<Expression> = Expression extends Column
  ? GetColumnData<Expression>
  : Expression extends SQL<infer Data>
    ? Data
    : Expression extends SQLWrapper
      ? unknown
      : Expression;

const argument = (value: unknown): SQLWrapper => (isSQLWrapper(value) ? value : sql`${value}`.inlineParams());

const call = (name: string, ...values: unknown[]): SQL<never> =>
  sql`${sql.raw(name)}(${sql.join(values.map(argument), sql`, `)})`;

export const coalesce = <Nullable extends SQLWrapper, Otherwise>(
  nullable: Nullable,
  otherwise: Otherwise,
): SQL<NonNullable<DataOf<Nullable>> | DataOf<Otherwise>> => call("coalesce", nullable, otherwise);

export const iif = <Then, Otherwise>(
  condition: SQLWrapper,
  then: Then,
  otherwise: Otherwise,
): SQL<DataOf<Then> | DataOf<Otherwise>> => call("iif", condition, then, otherwise);

/** The greatest of several values in one row; null if one of them is null. (Drizzle's `max` aggregates a column.) */
export const greatest = (...values: Value<number>[]): SQL<number> => call("max", ...values);

export const least = (...values: Value<number>[]): SQL<number> => call("min", ...values);

export const isSame = (one: SQLWrapper, other: Value<unknown>): SQL => sql`${one} is ${other}`;

/** Keeps SQLite from using an index on the column. */
export const withoutIndex = (column: SQLiteColumn): SQL => sql`+${column}`;

/** The value that a query of one column returns; null if it returns no row. */
export const scalar = <Type>(
  query: SQLWrapper & { _: { result: Record<string, Type>[] } },
): SQL<Type | null> => sql`${query}`;

/** For selections that have two columns of the same name. */
export const columnAs = <Selected extends SQLiteColumn>(
  column: Selected,
  name: string,
): SQL.Aliased<GetColumnData<Selected>> => sql`${column}`.mapWith(column).as(name);

/** Like `columnAs`, for a table joined by LEFT JOIN: null if the table has no row. */
export const joinedColumnAs: <Selected extends SQLiteColumn>(
  column: Selected,
  name: string,
) => SQL.Aliased<GetColumnData<Selected> | null> = columnAs;

export const hasValues = <Table extends object>(
  table: Table,
  values: {
    [Name in keyof Table]?: Table[Name] extends Column ? Value<GetColumnData<Table[Name], "raw">> : never;
  },
): SQL | undefined =>
  and(...Object.entries(values).map(([name, value]) => eq(table[name as keyof Table] as Column, value)));
