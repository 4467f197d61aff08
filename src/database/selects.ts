import {
  and,
  type asc,
  eq,
  isNull,
  max,
  or,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { columnAs, hasValues, withoutIndex } from "./expressions.ts";
import {
  builder,
  type Placeholders,
  type PreparedQuery,
  preparedQuery,
  type Row,
  type Value,
} from "./queries.ts";

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

/** Within a transaction, this is the id of the row just inserted. */
export const newestId = (table: SQLiteTable & { id: SQLiteColumn }) =>
  builder.select({ id: max(table.id) }).from(table);

export const isNewest = (table: SQLiteTable & { id: SQLiteColumn }): SQL => eq(table.id, newestId(table));

interface ByTime {
  time: SQLiteColumn;
  id: SQLiteColumn;
}

interface Place {
  time: SQLWrapper;
  id: SQLWrapper;
}

/**
 * The ids of the next rows of several owners, in the order of their times, in which no index has them. Begins with the next row
 * of each owner, and replaces each row that it takes by the same owner's following row. A row of several owners appears once.
 * Equal times are searched separately, because SQLite does not use the id in an index for `(time, id) > (…)`.
 *
 * @param columns the columns of the table, and of its alias in `nextId`
 * @param owners a query in parentheses that selects the ids of the owners as `id`
 * @param nextId selects the id of an owner's first row that meets a condition
 * @param options `owners_of_row` is the most owners that a row can have
 */
export function mergedIds(
  columns: { table: ByTime; next: ByTime },
  owners: SQL,
  start: Place,
  nextId: (owner_id: SQL, isBeyond: SQL) => SQLWrapper,
  {
    order,
    limit,
    owners_of_row = 1,
  }: { order: "asc" | "desc"; limit: Value<number>; owners_of_row?: number },
): SQL {
  const { table, next } = columns;
  const beyond = sql.raw(order === "asc" ? ">" : "<");
  const nextOf = (owner: SQL, { time, id }: Place) => {
    const ofSameTime = nextId(sql`owner.id`, sql`${next.time} = ${time} and ${next.id} ${beyond} ${id}`);
    const others = nextId(sql`owner.id`, sql`${next.time} ${beyond} ${time}`);
    return sql`select owner.id, ${table.time}, ${table.id} from ${owner} as owner cross join ${table.id.table}
      where ${table.id} = coalesce(${ofSameTime}, ${others})`;
  };
  const following = nextOf(sql`merged`, { time: sql`owner.time`, id: sql`owner.row_id` });
  const direction = sql.raw(order);
  return sql`(with recursive merged (id, time, row_id) as (${nextOf(owners, start)} union all ${following}
    order by 2 ${direction}, 3 ${direction} limit ${limit} * ${sql.raw(String(owners_of_row))}) select distinct row_id as id from merged limit ${limit})`;
}

/** A filter of few rows, which an index has found otherwise; null matches any value. */
export const isAnyOr = (wanted: Placeholder, column: SQLiteColumn) =>
  or(isNull(wanted), eq(withoutIndex(column), wanted));

interface LookThrough extends ByTime {
  order: typeof asc;
  most: number;
}

/**
 * A caller may be allowed to see only a few of many rows, so a request looks through a limited number: `entries`, for FROM, each once
 * although several rows can have it. `end` is the last one, if there are more. A page of `entries` needs no ORDER BY: without it, SQLite
 * reads one after the other, and stops at the limit.
 */
export function lookThrough<Listed extends object>(
  { time, id, order, most }: LookThrough,
  where: (listed: Placeholders<Listed>) => SQL | undefined,
) {
  const rows = (listed: Placeholders<Listed>) =>
    builder
      .select({ time: columnAs(time, "time"), id: columnAs(id, "id") })
      .from(time.table)
      .where(where(listed))
      .orderBy(order(time), order(id));
  const end = preparedQuery((listed: Placeholders<Listed>) =>
    rows(listed)
      .limit(1)
      .offset(most - 1),
  );
  return {
    entries: (listed: Placeholders<Listed>) =>
      sql`(select distinct time, id from (${rows(listed).limit(most)})) as entry`,
    end: end as PreparedQuery<Listed, { time: number; id: number }>,
  };
}

type Names<Table extends SQLiteTable> = keyof Table["$inferSelect"] & string;

const hasValuesOf = <Table extends SQLiteTable>(
  table: Table,
  names: string[],
  values: Placeholders<Record<string, unknown>>,
) => hasValues(table, Object.fromEntries(names.map((name) => [name, values[name]])) as object);

/** The rows of one table that meet a condition. */
export const rowsWhere = <Columns extends Record<string, SQLiteColumn | SQL.Aliased>, Values extends object>(
  table: SQLiteTable,
  columns: Columns,
  condition: (values: Placeholders<Values>) => SQL | undefined,
): PreparedQuery<Values, Row<Columns>> =>
  preparedQuery((values: Placeholders<Values>) =>
    builder
      .select(columns as Record<string, SQLiteColumn>)
      .from(table)
      .where(condition(values)),
  ) as never;

export const rowsBy = <
  Table extends SQLiteTable,
  Columns extends Record<string, SQLiteColumn | SQL.Aliased>,
  Name extends Names<Table>,
>(
  table: Table,
  columns: Columns,
  ...names: Name[]
): PreparedQuery<Pick<Table["$inferSelect"], Name>, Row<Columns>> =>
  rowsWhere(table, columns, (values: Placeholders<Record<string, unknown>>) =>
    hasValuesOf(table, names, values),
  ) as never;

/** Returns the columns `names`. */
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
