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

/* What SQLite has and Drizzle has no name for. A value that is no SQL stands in the text, as a literal. */

/** What an expression gives. */
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

/** The greatest of some values of a row, where Drizzle's `max` is that of a column. Null if one of them is. */
export const greatest = (...values: Value<number>[]): SQL<number> => call("max", ...values);

export const least = (...values: Value<number>[]): SQL<number> => call("min", ...values);

/** As `eq`, but null is the same as null. */
export const isSame = (one: SQLWrapper, other: Value<unknown>): SQL => sql`${one} is ${other}`;

/** A column for which SQLite goes by no index. */
export const withoutIndex = (column: SQLiteColumn): SQL => sql`+${column}`;

/** What a query of one column returns, as a value: null where it returns no row. */
export const scalar = <Type>(
  query: SQLWrapper & { _: { result: Record<string, Type>[] } },
): SQL<Type | null> => sql`${query}`;

/** A column under another name, where a selection has two of one name. */
export const columnAs = <Selected extends SQLiteColumn>(
  column: Selected,
  name: string,
): SQL.Aliased<GetColumnData<Selected>> => sql`${column}`.mapWith(column).as(name);

/** The same of a table that is joined by LEFT JOIN: null where it has no row. */
export const joinedColumnAs: <Selected extends SQLiteColumn>(
  column: Selected,
  name: string,
) => SQL.Aliased<GetColumnData<Selected> | null> = columnAs;

/** True for the rows of a table that have these values. */
export const hasValues = <Table extends object>(
  table: Table,
  values: {
    [Name in keyof Table]?: Table[Name] extends Column ? Value<GetColumnData<Table[Name], "raw">> : never;
  },
): SQL | undefined =>
  and(...Object.entries(values).map(([name, value]) => eq(table[name as keyof Table] as Column, value)));
