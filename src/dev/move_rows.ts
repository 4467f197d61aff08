import * as sql from "./move_statements.ts";
import { type Frozen, type Table, withoutTriggers } from "./organization_rows.ts";
import type { Statement } from "./statement_runner.ts";

/** The number of rows copied at once. For tables with long texts, fewer, to stay within a few megabytes. */
const PORTION = 1000;
const PORTIONS: Record<string, number> = { call_texts: 20, call_text_versions: 20 };

/** The number of rowids read at once. Many, because SQLite sorts all rows of the organization for each read. */
const ROWIDS = 50_000;

/** In bytes. D1's limit for a parameter is 2 MB. */
const MAX_PARAMETER = 1_000_000;

const REPORTED = 50_000;

export interface Moving extends sql.Move, Frozen {
  from: number;
  say: (line: string) => void;
}

/** @returns the number of rows */
export async function copyRows(moving: Moving): Promise<number> {
  let copied = 0;
  for (const table of moving.tables)
    for await (const rows of copyTable(moving, table)) {
      if (Math.floor((copied + rows) / REPORTED) > Math.floor(copied / REPORTED))
        moving.say(`${copied + rows} rows are copied.`);
      copied += rows;
    }
  return copied;
}

async function* copyTable({ run, id, from, to }: Moving, table: Table): AsyncGenerator<number> {
  const portion = PORTIONS[table.name] ?? PORTION;
  const write = await withoutTriggers(run, { id, shard: to }, table);
  for (let after = 0, count = ROWIDS; count === ROWIDS; ) {
    const [found = []] = await run(from, [sql.nextRowids(table, id, after, ROWIDS)]);
    const rowids = found.map(({ row }) => Number(row));
    count = rowids.length;
    after = rowids.at(-1) ?? after;
    while (rowids.length > 0) {
      const [read = []] = await run(from, [sql.readRows(table, rowids.splice(0, portion))]);
      const rows = read.map(({ data }) => String(data));
      const written = (await write(insertsOf(table, rows))).flat().map(({ data }) => String(data));
      if (written.toSorted().join("\n") !== rows.toSorted().join("\n"))
        throw new Error(`The copy of a row of ${table.name} differs from the row.`);
      yield rows.length;
    }
  }
}

/** Passes the rows' JSON on as text: parsing it could round numbers. */
function insertsOf(table: Table, rows: string[]): Statement[] {
  const inserts: Statement[] = [];
  let list: string[] = [];
  let length = 0;
  const flush = () => {
    if (list.length > 0) inserts.push(sql.insertRows(table, `[${list}]`));
    [list, length] = [[], 0];
  };
  for (const row of rows) {
    const size = Buffer.byteLength(row);
    if (length + size > MAX_PARAMETER) flush();
    if (size > MAX_PARAMETER) inserts.push(sql.insertLongRow(table, row));
    else list.push(row);
    length += size;
  }
  flush();
  return inserts;
}
