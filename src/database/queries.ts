import { Column, is, noopDecoder, Param, Placeholder, SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { DrizzleD1Database } from "drizzle-orm/d1";
import type { SelectResultFields } from "drizzle-orm/query-builders/select.types";
import {
  type SelectedFields,
  SQLiteAsyncDialect,
  SQLiteDeleteBase,
  SQLiteInsertBuilder,
  SQLiteSelectBuilder,
  type SQLiteTable,
  SQLiteUpdateBuilder,
  type SQLiteUpdateSetSource,
} from "drizzle-orm/sqlite-core";
import { SQLiteCountBuilder } from "drizzle-orm/sqlite-core/query-builders/count";
import { lazily } from "../memory.ts";
import { type Database, fromPrimaryIfInDoubt } from "./database.ts";

/* Generating a query's text takes Drizzle longer than the rest of a request, so it happens once per isolate. */

/** Drizzle's statements call nothing else of their session. */
const session = {
  prepareQuery: (query: Query, fields: Field[] = []): Prepared => ({ query, fields }),
} as never;

const dialect = new SQLiteAsyncDialect();

export const builder = {
  select: (fields: SelectedFields) => new SQLiteSelectBuilder({ fields, session, dialect }),
  insert: (table: SQLiteTable) => new SQLiteInsertBuilder(table, session, dialect),
  update: (table: SQLiteTable) => new SQLiteUpdateBuilder(table, session, dialect),
  delete: (table: SQLiteTable) => new SQLiteDeleteBase(table, session, dialect),
  $count: (source: SQLiteTable, filters?: SQL) => new SQLiteCountBuilder({ source, filters, session }),
} as unknown as Builder;

interface Builder extends Pick<DrizzleD1Database, "select" | "insert" | "delete" | "$count"> {
  /** SET also takes placeholders, which get the column's encoding. Drizzle's type omits them. */
  update<Table extends SQLiteTable>(
    table: Table,
  ): {
    set(
      values: {
        [Name in keyof SQLiteUpdateSetSource<Table>]: SQLiteUpdateSetSource<Table>[Name] | Placeholder;
      },
    ): ReturnType<SQLiteUpdateBuilder<Table, "async", D1Result>["set"]>;
  };
}

export type Row<Columns extends Record<string, Column | SQL.Aliased | SQL>> = {
  [Name in keyof SelectResultFields<Columns>]: SelectResultFields<Columns>[Name];
};

/** A value, or SQL for it. Conditions of this type also work outside of prepared queries. */
export type Value<Type> = Type | SQLWrapper;

export type Values<Of> = { [Name in keyof Of]: Value<Of[Name]> };

export const jsonValues = (list: Value<string | null>): SQL => sql`(select value from json_each(${list}))`;

/** Placeholders for the values of a prepared query. This is a proxy: it cannot be spread or destructured with `...rest`. */
export type Placeholders<Values> = { [Name in keyof Values & string]: Placeholder<Name, Values[Name]> };

export interface Compiled {
  text: string;
  bind: (values: Record<string, unknown>) => unknown[];
  columns: string[];
  decoders: [column: string, decode: (value: unknown) => unknown][];
}

export interface BoundQuery<Result> {
  compiled: Compiled;
  params: unknown[];
  /** Phantom field: carries the row type. */
  row?: { is: Result };
}

export type PreparedQuery<Values, Result> = (values: Values) => BoundQuery<Result>;

export type Statement = BatchItem<"sqlite">;

type RowOf<S extends Statement> = S["_"]["result"] extends (infer Result)[] ? Result : never;

/**
 * Compiled at its first use.
 *
 * @param build uses placeholders; the columns of its rows must have different names
 */
export function preparedQuery<Values extends object, S extends Statement>(
  build: (values: Placeholders<Values>) => S,
): PreparedQuery<Values, RowOf<S>> {
  const compileOnce = lazily(() => compile(build(placeholders<Values>())));
  statements.push(() => [compileOnce()]);
  return (values) => {
    const compiled = compileOnce();
    return { compiled, params: compiled.bind(values as Record<string, unknown>) };
  };
}

/** A test runs EXPLAIN on each statement. */
export const statements: (() => Compiled[])[] = [];

/** For queries whose result may be empty: the primary is not asked again after a replica returns no row. */
export async function runAll<Result>(db: Database, query: BoundQuery<Result>): Promise<Result[]> {
  return decode(query, await fromPrimaryIfInDoubt(db, (each) => runOne(each, query)));
}

/** Reads each further page only when it is needed, so that only one is in memory. */
export async function* pagesFrom<Result extends { id: number }>(
  db: Database,
  first: Result[],
  size: number,
  pageAfter: (id: number) => BoundQuery<Result>,
): AsyncGenerator<Result[], void> {
  for (let page = first; ; ) {
    yield page;
    const last = page[size - 1];
    if (!last) return;
    page = await runAll(db, pageAfter(last.id));
  }
}

/** The first row of a query; undefined if the primary has none either. */
export async function runFirst<Result>(db: Database, query: BoundQuery<Result>): Promise<Result | undefined> {
  const rows = await fromPrimaryIfInDoubt(
    db,
    (each) => runOne(each, query),
    (found) => found.length === 0,
  );
  return decode(query, rows)[0];
}

export async function requireFirst<Result>(db: Database, query: BoundQuery<Result>, refusal: () => Error) {
  const row = await runFirst(db, query);
  if (row === undefined) throw refusal();
  return row;
}

/** In one round trip and one transaction. If the first query finds no row in a replica, all are sent to the primary. */
export async function runBatch<Queries extends BoundQuery<unknown>[]>(
  db: Database,
  queries: [...Queries],
): Promise<RowsOf<Queries>> {
  const results = await fromPrimaryIfInDoubt(
    db,
    (each) => runRaw(each, queries),
    ([first]) => first?.length === 0,
  );
  return results.map((rows, n) => decode(queries[n] as BoundQuery<unknown>, rows)) as RowsOf<Queries>;
}

async function runOne(db: Database, query: BoundQuery<unknown>): Promise<RawRow[]> {
  return (await prepare(db, query).all<RawRow>()).results;
}

export type NamedQueries = Record<string, BoundQuery<unknown>>;

export type RowsOf<Queries extends BoundQuery<unknown>[] | NamedQueries> = {
  [N in keyof Queries]: Queries[N] extends BoundQuery<infer Result> ? Result[] : never;
};

export type RawRow = Record<string, unknown>;

/** Only on this database, with rows as D1 returns them: booleans are 0 and 1, JSON is text. */
export async function runRaw(db: Database, queries: BoundQuery<unknown>[]): Promise<RawRow[][]> {
  const results = await db.batch<RawRow>(queries.map((each) => prepare(db, each)));
  return results.map((result) => result.results);
}

/** Converts the rows in place. */
export function decode<Result>({ compiled: { decoders } }: BoundQuery<Result>, rows: RawRow[]): Result[] {
  for (const [column, convert] of decoders)
    for (const row of rows) if (row[column] !== null) row[column] = convert(row[column]);
  return rows as Result[];
}

function placeholders<Values>(): Placeholders<Values> {
  return new Proxy({} as Placeholders<Values>, {
    get: (_, name) => new Placeholder(String(name)),
    ownKeys: () => {
      throw new Error("Placeholders are made when they are named: they cannot be spread");
    },
  });
}

export function compile(statement: Statement): Compiled {
  const { query, fields } = (statement as unknown as { prepare(): Prepared }).prepare();
  const { sql: text, params } = query;
  const encoders = params.map(encoderOf);
  return {
    text,
    bind: (values) => encoders.map((encode) => encode(values)),
    columns: fields.map(columnName),
    decoders: fields.flatMap((field) => decodersOf(field)),
  };
}

interface Prepared {
  query: Query;
  fields: Field[];
}

interface Query {
  sql: string;
  params: unknown[];
}

interface Field {
  path: string[];
  field: Column | SQL.Aliased | SQL;
}

function prepare(db: Database, { compiled, params }: BoundQuery<unknown>): D1PreparedStatement {
  return db.prepare(compiled.text).bind(...params);
}

/** D1 returns rows as objects, so two columns of the same name would become one. */
function columnName({ path, field }: Field): string {
  const name = is(field, Column) ? field.name : is(field, SQL.Aliased) ? field.fieldAlias : undefined;
  if (path.length !== 1 || path[0] !== name)
    throw new Error(`The column ${path.join(".")} must be selected under this name: alias it`);
  return name as string;
}

function decodersOf({ path, field }: Field): Compiled["decoders"] {
  const decoder = is(field, Column)
    ? field
    : is(field, SQL.Aliased)
      ? decoderOf(field.sql)
      : decoderOf(field);
  const isIdentity =
    decoder === noopDecoder || decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue;
  return isIdentity ? [] : [[path[0] as string, (value) => decoder.mapFromDriverValue(value)]];
}

const decoderOf = (sql: SQL) =>
  (sql as unknown as { decoder: { mapFromDriverValue(value: unknown): unknown } }).decoder;

function encoderOf(param: unknown): (values: Record<string, unknown>) => unknown {
  if (is(param, Placeholder)) return (values) => requireValue(values, param.name);
  if (is(param, Param) && is(param.value, Placeholder)) {
    const { encoder, value: placeholder } = param;
    return (values) => {
      const value = requireValue(values, (placeholder as Placeholder).name);
      // A column's encoder would turn null into false, or into the text "null".
      return value === null ? null : encoder.mapToDriverValue(value);
    };
  }
  return () => param;
}

function requireValue(values: Record<string, unknown>, name: string): unknown {
  const value = values[name];
  if (value === undefined) throw new Error(`The query wants a value for ${name}`);
  return value;
}
