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
import { IS_MOVING, isMoving } from "./causes.ts";
import { type Bound, besideWrites, type Database, fromPrimaryIfInDoubt, homeOf } from "./database.ts";

/*
 * Drizzle takes longer to write a query's text than all the rest of a request takes. So the text is written once per
 * isolate, with placeholders, and each request only binds its values.
 */

/** What a statement of Drizzle is made of. It asks its session to prepare that, and nothing else. */
const session = {
  prepareQuery: (query: Query, fields: Field[] = []): Prepared => ({ query, fields }),
} as never;

const dialect = new SQLiteAsyncDialect();

/** Builds statements, for prepared queries and for subqueries. It runs none, so it is what Drizzle has for that, and not a database. */
export const builder = {
  select: (fields: SelectedFields) => new SQLiteSelectBuilder({ fields, session, dialect }),
  insert: (table: SQLiteTable) => new SQLiteInsertBuilder(table, session, dialect),
  update: (table: SQLiteTable) => new SQLiteUpdateBuilder(table, session, dialect),
  delete: (table: SQLiteTable) => new SQLiteDeleteBase(table, session, dialect),
  $count: (source: SQLiteTable, filters?: SQL) => new SQLiteCountBuilder({ source, filters, session }),
} as unknown as Builder;

interface Builder extends Pick<DrizzleD1Database, "select" | "insert" | "delete" | "$count"> {
  /** SET takes placeholders too, encoded as the column is. Drizzle's type leaves them out. */
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

/** The row of a selection: `type WaitingRoom = Row<typeof waitingRoomColumns>`. */
export type Row<Columns extends Record<string, Column | SQL.Aliased | SQL>> = {
  [Name in keyof SelectResultFields<Columns>]: SelectResultFields<Columns>[Name];
};

/** A value, or SQL for it: conditions that take it serve prepared queries and others. */
export type Value<Type> = Type | SQLWrapper;

/** Values of a query, each as itself or as SQL for it. */
export type Values<Of> = { [Name in keyof Of]: Value<Of[Name]> };

/** The values of a JSON array, for IN. */
export const jsonValues = (list: Value<string | null>): SQL => sql`(select value from json_each(${list}))`;

/** Stands for each value of a prepared query while it is built. A proxy: it cannot be spread, nor taken apart by `...rest`. */
export type Placeholders<Values> = { [Name in keyof Values & string]: Placeholder<Name, Values[Name]> };

/** A statement as D1 takes it, and how its values and rows are converted. */
export interface Compiled {
  text: string;
  bind: (values: Record<string, unknown>) => unknown[];
  columns: string[];
  decoders: [column: string, decode: (value: unknown) => unknown][];
}

/** A prepared query with its values: ready to run, alone or in a batch. */
export interface BoundQuery<Result> {
  compiled: Compiled;
  params: unknown[];
  /** Never set. It is here for its type, which says what a row is. */
  row?: { is: Result };
}

export type PreparedQuery<Values, Result> = (values: Values) => BoundQuery<Result>;

/** What Drizzle builds and D1 runs: a SELECT, INSERT, UPDATE or DELETE. */
export type Statement = BatchItem<"sqlite">;

type RowOf<S extends Statement> = S["_"]["result"] extends (infer Result)[] ? Result : never;

/**
 * A statement that is built at its first use, and kept.
 *
 * @param build makes the statement from placeholders; each column of its rows must have a name of its own
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

/** Compiles the statements that the loaded modules declare: a test explains each of them. */
export const statements: (() => Compiled[])[] = [];

/** All rows of a query. There may well be none: nothing that is asked for by name. */
export async function runAll<Result>(db: Database, query: BoundQuery<Result>): Promise<Result[]> {
  return decode(query, await fromPrimaryIfInDoubt(db, (each) => runOne(each, query)));
}

/** The first row of a query, or undefined. */
export async function runFirst<Result>(db: Database, query: BoundQuery<Result>): Promise<Result | undefined> {
  const rows = await fromPrimaryIfInDoubt(
    db,
    (each) => runOne(each, query),
    (found) => found.length === 0,
  );
  return decode(query, rows)[0];
}

/** The first row of a query, which must be there: what is asked for by name, or what a DELETE has deleted. */
export async function requireFirst<Result>(
  db: Database,
  query: BoundQuery<Result>,
  refusal: () => Error,
): Promise<Result> {
  const row = await runFirst(db, query);
  if (row === undefined) throw refusal();
  return row;
}

/** The rows of several queries, in one round trip and one transaction. The first finds what is asked for by name. */
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
  if (homeOf(db) || besideWrites(db, [query]).length > 0) return (await runRaw(db, [query]))[0] ?? [];
  return (await prepare(db, query).all<RawRow>()).results;
}

/** The rows of each query of a batch. */
export type RowsOf<Queries extends BoundQuery<unknown>[]> = {
  [N in keyof Queries]: Queries[N] extends BoundQuery<infer Result> ? Result[] : never;
};

export type RawRow = Record<string, unknown>;

/**
 * As `runBatch`, with the rows as D1 gives them: booleans are 0 and 1, JSON is text. Where the organization has moved to another
 * database, it asks that one instead.
 */
export async function runRaw(db: Database, queries: BoundQuery<unknown>[]): Promise<RawRow[][]> {
  const home = homeOf(db);
  const all: Bound[] = [...queries, ...besideWrites(db, queries)];
  if (!home || home.followed) return runBound(home?.followed?.db ?? db, all, queries.length);
  const rows = await runBound(db, [...all, home.newShard]).catch(async (error) => {
    // Where it has moved from, triggers refuse what is written.
    const [found = []] = isMoving(error) ? await runBound(db, [home.newShard]) : [];
    if (found.length === 0) throw error;
    return [found];
  });
  const [moved] = rows.at(-1) ?? [];
  if (!moved) return rows.slice(0, queries.length);
  const shard = Number(moved.shard);
  const followed = { shard, db: home.follow(shard) };
  if (home.isPinned) throw new Error(IS_MOVING);
  home.followed = followed;
  return runBound(followed.db, all, queries.length);
}

async function runBound(db: Database, statements: Bound[], count?: number): Promise<RawRow[][]> {
  const results = await db.batch<RawRow>(statements.map((each) => prepare(db, each)));
  return results.slice(0, count).map((result) => result.results);
}

/** Converts rows as D1 gives them, in place. */
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

function prepare(db: Database, { compiled, params }: Bound): D1PreparedStatement {
  return db.prepare(compiled.text).bind(...params);
}

/** D1 gives rows by the names of columns, so two of one name would become one. */
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
      // Left to a column's encoder, null would become false, or the text "null".
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
