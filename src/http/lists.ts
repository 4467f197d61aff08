import { and, count, eq, type Placeholder, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database } from "../database/database.ts";
import {
  builder,
  type Placeholders,
  type PreparedQuery,
  preparedQuery,
  type Row,
  runBatch,
} from "../database/queries.ts";
import { isAnyOr, rowsWhere } from "../database/selects.ts";
import { type Page, type PageQuery, type PageWindow, pageWindow, toPage } from "./pagination.ts";

interface PagedList<Values, Item> {
  total: PreparedQuery<Values, { total: number }>;
  page: PreparedQuery<Values & PageWindow, Item>;
}

export function pagedList<Columns extends Record<string, SQLiteColumn | SQL.Aliased>, Values extends object>(
  table: SQLiteTable,
  columns: Columns,
  order: SQL[],
  condition: (values: Placeholders<Values>) => SQL | undefined,
): PagedList<Values, Row<Columns>> {
  return {
    total: rowsWhere(table, { total: count().as("total") }, condition),
    page: preparedQuery((values: Placeholders<Values & PageWindow>) =>
      builder
        .select(columns as Record<string, SQLiteColumn>)
        .from(table)
        .where(condition(values as unknown as Placeholders<Values>))
        .orderBy(...order)
        .limit((values as unknown as Placeholders<PageWindow>).limit)
        .offset((values as unknown as Placeholders<PageWindow>).offset),
    ) as PreparedQuery<Values & PageWindow, Row<Columns>>,
  };
}

/** The column that each filter is compared with. */
type Filters<Query> = Record<Exclude<keyof Query, keyof PageQuery>, SQLiteColumn>;

/** Makes the verb that reads a page, with the index for the first filter given. `filters` has the most selective first. */
export function filteredList<
  Query extends PageQuery,
  Columns extends Record<string, SQLiteColumn | SQL.Aliased>,
  Values extends object,
>(
  table: SQLiteTable,
  columns: Columns,
  order: SQL[],
  condition: (values: Placeholders<Values>) => SQL | undefined,
  filters: Filters<Query>,
) {
  const all: [string, SQLiteColumn][] = Object.entries(filters);
  const listBy = (first?: string) =>
    pagedList(table, columns, order, (values: Placeholders<Values & Record<string, unknown>>) =>
      and(
        condition(values as unknown as Placeholders<Values>),
        ...all.map(([name, column]) => {
          const wanted = values[name] as Placeholder;
          return name === first ? eq(column, wanted) : isAnyOr(wanted, column);
        }),
      ),
    );
  const lists = new Map([undefined, ...Object.keys(filters)].map((first) => [first, listBy(first)]));
  return (
    db: Database,
    values: Values,
    { page, per_page, ...wanted }: Query,
  ): Promise<Page<Row<Columns>>> => {
    const given = wanted as Record<string, unknown>;
    const each = Object.fromEntries(all.map(([name]) => [name, given[name] ?? null]));
    const list = lists.get(all.find(([name]) => each[name] !== null)?.[0]) as ReturnType<typeof listBy>;
    return readPage(db, list, { ...values, ...each }, { page, per_page });
  };
}

/** Refuses a filter among the parameters of a page: it would be ignored. */
type WithoutFilters<Query> = PageQuery & { [Name in Exclude<keyof Query, keyof PageQuery>]: never };

export async function readPage<Values, Item, Query>(
  db: Database,
  { total, page }: PagedList<Values, Item>,
  values: Values,
  query: Query & WithoutFilters<Query>,
): Promise<Page<Item>> {
  const queries = [total(values), page({ ...values, ...pageWindow(query) })] as const;
  const [[counted], items] = await runBatch(db, [...queries]);
  return toPage(query, counted?.total ?? 0, items);
}
