import { eq, getTableColumns, Placeholder, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Decision } from "./decide_and_write.ts";
import type { NewRow } from "./insert.ts";
import { isChanged } from "./merging.ts";
import {
  type BoundQuery,
  builder,
  type Compiled,
  compile,
  decode,
  type RawRow,
  type Row,
  type Statement,
  statements,
} from "./queries.ts";
import { isNewest } from "./selects.ts";

type TableOfRows = SQLiteTable & { id: SQLiteColumn };

type Columns = Record<string, SQLiteColumn | SQL.Aliased | SQL>;

/** Columns that the database computes, from the row's parameters. */
type Generated<Table extends TableOfRows> = {
  [Column in keyof Table["$inferSelect"]]?: (of: (column: keyof Table["$inferSelect"]) => SQL) => SQL;
};

type RowToInsert<Table extends TableOfRows> = NewRow<Table> & { id?: number };

/** Return the selection of the row's columns. */
interface TableWrites<Table extends TableOfRows, Result> extends StoredRow<Result> {
  insert: (row: RowToInsert<Table>) => BoundQuery<Result>;
  /** Writes only the columns that differ. */
  update: <Known extends Partial<Table["$inferSelect"]> & { id: number }>(
    before: Known,
    next: NoInfer<Known>,
  ) => BoundQuery<Result>;
}

/** For idempotency keys. */
export interface StoredRow<Result> {
  /** JSON text of the row that the transaction has just inserted. */
  newestAsJson: (isStored: (column: string) => boolean) => SQL<string>;
  /** The columns that were not stored are null. */
  fromJson: (text: string) => Result;
}

/** Compiled once for each set of columns that is written. */
export function tableWrites<Table extends TableOfRows, Selection extends Columns>(
  table: Table,
  selection: Selection,
  generated?: Generated<Table>,
): TableWrites<Table, Row<Selection>> {
  const columns = getTableColumns(table) as Record<string, SQLiteColumn>;
  const makers = { ...generated } as Record<string, (of: typeof parameter) => SQL>;
  const returned = selection as Record<string, SQLiteColumn>;
  const compiledWrites = new Map<string, Compiled>();
  let selected: Compiled | undefined;

  const parameter = (name: string) => sql`${sql.param(new Placeholder(name), columns[name] as SQLiteColumn)}`;

  const valuesOf = (names: string[]) =>
    Object.fromEntries(names.map((name) => [name, makers[name]?.(parameter) ?? parameter(name)]));

  function bound(verb: string, names: string[], row: RawRow, build: () => Statement): BoundQuery<never> {
    const key = `${verb} ${names}`;
    const statement = compiledWrites.get(key) ?? compile(build());
    compiledWrites.set(key, statement);
    return { compiled: statement, params: statement.bind(row) };
  }

  const writes: TableWrites<Table, Row<Selection>> = {
    insert(row: RawRow) {
      const names = Object.keys(columns).filter((name) => name in row);
      return bound("insert", names, row, () =>
        builder
          .insert(table)
          .values(valuesOf(names) as Table["$inferInsert"])
          .returning(returned),
      );
    },
    update(before: RawRow, next: RawRow) {
      const names = Object.keys(columns).filter((name) => isChanged(before[name], next[name]));
      const isRow = eq(table.id, parameter("id"));
      return bound("update", names, next, () =>
        names.length === 0
          ? builder.select(selection).from(table).where(isRow)
          : builder
              .update(table)
              .set(valuesOf(names) as never)
              .where(isRow)
              .returning(returned),
      );
    },
    newestAsJson(isStored) {
      const newest = builder.select(selection).from(table).where(isNewest(table));
      const fields = Object.keys(selection)
        .filter(isStored)
        .map((name) => sql.raw(`'${name}', newest."${name}"`));
      return sql`(select json_object(${sql.join(fields, sql`, `)}) from ${newest} as newest)`;
    },
    fromJson(text) {
      selected ??= compile(builder.select(selection).from(table));
      const row: RawRow = Object.fromEntries(selected.columns.map((name) => [name, null]));
      Object.assign(row, JSON.parse(text));
      return decode<Row<Selection>>({ compiled: selected, params: [] }, [row])[0] as Row<Selection>;
    },
  };
  statements.push(() => {
    const written = Object.keys(columns).filter((name) => !columns[name]?.generated);
    const rowOf = (value: unknown) =>
      Object.fromEntries(written.map((name) => [name, name === "id" ? 1 : value])) as never;
    return [writes.insert(rowOf(null)).compiled, writes.update(rowOf(null), rowOf(0)).compiled];
  });
  return writes;
}

/** Writes nothing if `next` is the known row itself. */
export function upsertIfChanged<Table extends TableOfRows, Known extends { id: number }>(
  { insert, update }: TableWrites<Table, Known>,
  known: (Known & Partial<Table["$inferSelect"]>) | undefined,
  next: RowToInsert<Table> | NoInfer<Known>,
): Decision<Known> {
  if (!known) return { writes: [insert(next as RowToInsert<Table>)] };
  return next === known ? { unchanged: known } : { writes: [update(known, { ...known, ...next })] };
}
