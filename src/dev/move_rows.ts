/** Copies rows of an organization that is moved, as long as its queue names some: see move.ts. */
import type { Move } from "./move_statements.ts";
import * as sql from "./move_statements.ts";
import type { Table } from "./size_statements.ts";
import type { Rows, Run, Statement } from "./statement_runner.ts";

/** Rows that are copied at once, of each table: of those that hold texts, so many as fit into a few megabytes. */
const PORTION = 1000;
const PORTIONS: Record<string, number> = { call_texts: 20, call_text_versions: 20 };

/** The organization is frozen when no more than so many rows are left. */
const FEW = 200;

/** Or when so many rounds have not come to an end: it is written to as fast as it is copied. */
const MAX_ROUNDS = 10_000;

/** In bytes. D1 takes a parameter of 2 MB. */
const MAX_PARAMETER = 1_000_000;

export interface Moving extends Move {
  run: Run;
  from: number;
  slug: string;
  tables: Table[];
  /** This run. */
  attempt: string;
  say: (line: string) => void;
}

/** @returns how many rows it copied */
export const copyUntilFew = (moving: Moving): Promise<number> => copyUntil(moving, FEW, MAX_ROUNDS);

/** @returns how many rows it copied */
export const copyAll = (moving: Moving): Promise<number> => copyUntil(moving, 0, Number.POSITIVE_INFINITY);

async function copyUntil(moving: Moving, few: number, rounds: number): Promise<number> {
  let copied = 0;
  for (let round = 1; round < rounds; round++) {
    const { rows, left } = await copyPortion(moving);
    copied += rows;
    if (left <= few) break;
    if (round % 10 === 0) moving.say(`${copied} rows are copied, ${left} are left.`);
  }
  return copied;
}

/** Copies the next rows of each table, and compares what was written with what was read. */
async function copyPortion(moving: Moving): Promise<{ rows: number; left: number }> {
  const { run, from, to, tables } = moving;
  const limit = ({ name }: Table) => PORTIONS[name] ?? PORTION;
  const found = await run(
    from,
    tables.map((table) => sql.nextRows(moving, table, limit(table))),
  );
  const portions = tables
    .map((table, n) => ({ table, rows: found[n] ?? [] }))
    .filter(({ rows }) => rows.length > 0);
  if (portions.length === 0) return { rows: 0, left: 0 };
  const writes = portions.flatMap(({ table, rows }) => writesOf(moving, table, rows));
  const reads = portions.map(({ table, rows }) =>
    sql.readWaiting(
      moving,
      table,
      rows.map(({ row }) => Number(row)),
    ),
  );
  const written = (await run(to, [...writes, ...reads])).slice(writes.length);
  for (const [n, { table, rows }] of portions.entries()) requireSame(table, rows, written[n] ?? []);
  const seqs = portions.flatMap(({ rows }) => rows.map(({ seq }) => Number(seq)));
  const [, [count] = []] = await run(from, [sql.takeOff(moving, seqs), sql.countQueue(moving)]);
  return { rows: seqs.length, left: Number(count?.left) };
}

/** JSON goes on as text, so that no number is rounded on the way. */
function writesOf(move: Move, table: Table, rows: Rows): Statement[] {
  const gone = rows.filter(({ data }) => data === null).map(({ row }) => Number(row));
  const writes: Statement[] = gone.length > 0 ? [sql.removeWaiting(move, table, gone)] : [];
  let list: string[] = [];
  let length = 0;
  const flush = () => {
    if (list.length > 0) writes.push(sql.writeWaiting(move, table, `[${list}]`));
    [list, length] = [[], 0];
  };
  for (const { row, data } of rows) {
    if (data === null || data === undefined) continue;
    const size = Buffer.byteLength(String(data));
    if (length + size > MAX_PARAMETER) flush();
    if (size > MAX_PARAMETER) writes.push(sql.writeLongWaiting(move, table, Number(row), String(data)));
    else list.push(`[${row},${data}]`);
    length += size;
  }
  flush();
  return writes;
}

/** @throws Error unless what was written is what was read, row by row */
function requireSame({ name }: Table, read: Rows, written: Rows) {
  const there = new Map(written.map(({ row, data }) => [Number(row), data]));
  const differ = read.some(({ row, data }) => (there.get(Number(row)) ?? null) !== (data ?? null));
  if (differ) throw new Error(`A row of ${name} was not copied as it is. Nothing has moved.`);
}
