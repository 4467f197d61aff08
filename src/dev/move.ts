/**
 * Moves an organization to another database while it is used.
 *
 * Its rows are copied beside the tables of the new database, first all, then those that have changed meanwhile: triggers note
 * them. When little is left, the organization is marked as moving: then these refuse its writes, which get 503. The rest is copied, and
 * everything is taken into the tables. The transaction that ends this is the move: before it, the organization lives where it
 * lived, and after it, in the new database alone, as the old one stays frozen. Then the directory learns of it, and requests
 * that come to the old rows are led to the new ones (see src/database/moves.ts).
 *
 * Each step is a transaction of one database. An interrupted move goes on from the last one. The mark in the old database names
 * the run that moves the organization. Before the last transaction, that run decides: from then on, the move is only brought to its end.
 * Whoever takes over before that keeps it from deciding. So two runs never do opposite things.
 */

import { randomUUID } from "node:crypto";
import { SCHEMA } from "./exported_copy.ts";
import { copyAll, copyUntilFew, type Moving } from "./move_rows.ts";
import type { Move } from "./move_statements.ts";
import * as sql from "./move_statements.ts";
import { type Table, tablesOf } from "./size_statements.ts";
import type { Run } from "./statement_runner.ts";
import { withoutTriggers } from "./without_triggers.ts";

/** Rows that one transaction takes in, or deletes: it keeps other organizations waiting for less than a second. */
const ROWS_AT_ONCE = 20_000;

export interface Result {
  rows: number;
  /** For how long writes were refused, in milliseconds. */
  frozen_for: number;
}

const IS_QUIET = "SELECT 1 FROM database_settings WHERE name = 'quiet'";

/** @throws Error unless both databases are there, and it can move */
async function open(run: Run, move: Move, say: Moving["say"]): Promise<Moving> {
  const { id, to } = move;
  const [[place] = []] = await run(0, [{ sql: "SELECT shard, slug FROM places WHERE id = ?", params: [id] }]);
  if (!place) throw new Error(`There is no organization ${id}.`);
  const [schema = [], quiet = []] = await run(to, [SCHEMA, IS_QUIET]);
  const [quietThere = []] = await run(Number(place.shard), [IS_QUIET]);
  if (quiet.length + quietThere.length > 0)
    throw new Error(
      "A database was restored, and is quiet: nothing moves before `npm run restore -- --resume`.",
    );
  const tables = tablesOf(schema.filter(({ name }) => !/^(moving|moved)_\d/.test(String(name)))).filter(
    sql.isMoved,
  );
  return {
    ...move,
    run,
    from: Number(place.shard),
    slug: String(place.slug),
    tables,
    attempt: randomUUID(),
    say,
  };
}

/** What a database says of an organization. */
async function stateIn({ run, id }: Pick<Moving, "run" | "id">, shard: number) {
  const [[row] = [], [mark] = [], queues = []] = await run(shard, [
    { sql: "SELECT id FROM organizations WHERE id = ?", params: [id] },
    { sql: "SELECT shard FROM moves WHERE organization_id = ?", params: [id] },
    sql.FIND_QUEUES(id),
  ]);
  return {
    hasRows: row !== undefined,
    isMarked: mark !== undefined,
    /** Where it went. */
    movedTo: mark?.shard ?? null,
    /** Where it was going. */
    begun: queues.map(({ name }) => Number(String(name).split("_").at(-1))),
  };
}

/**
 * Moves an organization, or goes on with a move that was interrupted.
 *
 * @param shards the numbers of all databases
 */
export async function moveOrganization(
  run: Run,
  move: Move,
  shards: number[],
  say: (line: string) => void = () => {},
): Promise<Result | null> {
  const moving = await open(run, move, say);
  const { id, to, from } = moving;
  const [source, target] = [await stateIn(moving, from), await stateIn(moving, to)];
  if (from === to && target.isMarked)
    throw new Error(
      `The directory says that the organization lives in shard ${to}, which does not serve it. Was one of them restored? Nothing was done.`,
    );
  const other = source.begun.find((shard) => shard !== to);
  if (other !== undefined)
    throw new Error(
      `A move to shard ${other} has begun: finish it, or take it back with --undo --to ${other}.`,
    );
  if (target.hasRows && !target.isMarked) {
    // It lives there already. If a move was interrupted after that, what is left of it is done.
    await lead(moving, shards);
    await run(to, sql.dropWaiting(moving, moving.tables));
    say(`Organization ${id} lives in shard ${to}.`);
    return null;
  }
  if (target.hasRows && target.movedTo !== null)
    throw new Error(
      `Shard ${to} has the rows that the organization left there when it moved away: delete them first, with --delete-old.`,
    );
  const isDecided = source.isMarked && !(await isOurs(moving, sql.takeOver));
  if (!isDecided) {
    if (source.isMarked || target.hasRows) await unfreeze(moving);
    if (source.begun.length === 0) await begin(moving);
    else say("The move goes on that was interrupted.");
    await fillQueue(moving);
  }
  let rows = isDecided ? 0 : await copyUntilFew(moving);
  const started = performance.now();
  if (isDecided) await beginAgain(moving);
  else await run(from, [sql.markAsMoving(moving, moving.attempt)]);
  try {
    rows += await copyAll(moving);
    await takeIn(moving, isDecided);
  } catch (error) {
    if (await isOurs(moving, sql.isOurs)) await unfreeze(moving);
    throw error;
  }
  await lead(moving, shards);
  const frozen_for = performance.now() - started;
  await run(to, sql.dropWaiting(moving, moving.tables));
  return { rows, frozen_for };
}

/** What an attempt may do with a move, the mark in the old database says: two attempts never both do it. */
async function isOurs({ run, from, id, attempt }: Moving, change: typeof sql.takeOver): Promise<boolean> {
  const [[row] = []] = await run(from, [change(id, attempt)]);
  return row !== undefined;
}

/** @throws Error if it has moved already */
export async function undoMove(run: Run, move: Move): Promise<void> {
  const moving = await open(run, move, () => {});
  const { id, to, from, tables } = moving;
  const target = await stateIn(moving, to);
  if (from === to || (target.hasRows && !target.isMarked))
    throw new Error(`Organization ${id} has moved to shard ${to}. To go back, move it to where it was.`);
  const isFrozen = (await stateIn(moving, from)).isMarked;
  if (isFrozen && !(await isOurs(moving, sql.takeOver)))
    throw new Error("The move is decided: run this without --undo, to bring it to its end.");
  if (isFrozen || (target.hasRows && target.movedTo === null)) await unfreeze(moving);
  await takeRange(moving, sql.GIVEN_RANGE(to));
  await run(from, [...sql.dropTriggers(id, tables), sql.dropQueue(moving)]);
  await run(to, sql.dropWaiting(moving, tables));
}

async function begin(moving: Moving) {
  const { run, id, from, to, tables, say } = moving;
  say(`Organization ${id} moves from shard ${from} to shard ${to}.`);
  await run(to, [...sql.dropWaiting(moving, tables), ...sql.createWaiting(moving, tables)]);
  await run(from, [sql.createQueue(moving), ...sql.createTriggers(moving, tables)]);
}

/** Nothing changes any more of what a decided move copies. What an earlier run has left may be incomplete: all is copied once more. */
async function beginAgain(moving: Moving) {
  const { run, from, to, tables } = moving;
  await deleteAll(moving, to);
  await run(to, [...sql.dropWaiting(moving, tables), ...sql.createWaiting(moving, tables)]);
  await run(from, [sql.emptyQueue(moving)]);
  await fillQueue(moving);
}

/** Once all rows are in the queue, only changes come in. */
async function fillQueue(moving: Moving) {
  const { run, from, tables } = moving;
  const [filled = []] = await run(from, [sql.isFilled(moving)]);
  if (filled.length > 0) return;
  for (const table of tables) await run(from, [sql.queueAll(moving, table)]);
  await run(from, [sql.markAsFilled(moving)]);
}

/** As before it was frozen: what had been taken in is deleted, and the organization is written to again. */
async function unfreeze(moving: Moving) {
  const { run, id, from, to } = moving;
  await deleteAll(moving, to);
  const { movedTo } = await stateIn(moving, to);
  if (movedTo === null) await run(to, [sql.unmark(id)]);
  await run(from, [sql.unmark(id)]);
}

/**
 * Takes the rows into the tables. Triggers would write events, entries and metrics of them, which are among the rows: so in each
 * transaction, the tables have none until its end.
 */
async function takeIn(moving: Moving, isDecided: boolean) {
  const { run, id, from, to, tables, slug } = moving;
  const [[counts = {}] = []] = await run(to, [sql.countWaiting(moving, tables)]);
  const portions = tables.flatMap((table) => portionsOf(table, Number(counts[table.name])));
  // Before any row comes in: its id would raise what the database gives next, into the range of another.
  await takeRange(moving, sql.newRange(to));
  await run(to, [sql.markAsArriving(moving, slug)]);
  while (portions.length > 0) {
    const batch = portions.splice(0, 1);
    for (let rows = batch[0]?.count ?? 0; portions[0] && rows + portions[0].count <= ROWS_AT_ONCE; ) {
      rows += portions[0].count;
      batch.push(...portions.splice(0, 1));
    }
    const takes = batch.map(({ table, offset }) => sql.takeIn(moving, table, ROWS_AT_ONCE, offset));
    const filled = batch.map(({ table }) => table);
    await withoutTriggers(moving, to, filled, takes);
  }
  const [[source] = []] = await run(from, [sql.digest(tables, id)]);
  const isSame = sql.requireDigest(tables, id, String(source?.digest));
  await run(to, [isSame]);
  if (!isDecided && !(await isOurs(moving, sql.decideToMove)))
    throw new Error("Somebody else moves the organization, or takes its move back. Nothing was done.");
  await run(to, [isSame, ...sql.countLists(id), sql.unmark(id)]);
}

/** @param range selects it in the directory: where there is none, nothing is taken */
async function takeRange({ run, to }: Pick<Moving, "run" | "to">, range: string) {
  const [[given] = []] = await run(0, [range]);
  if (given) await run(to, sql.takeRange(to, Number(given.range)));
}

const portionsOf = (table: Table, count: number) =>
  Array.from({ length: Math.ceil(count / ROWS_AT_ONCE) }, (_, part) => ({
    table,
    offset: part * ROWS_AT_ONCE,
    count: Math.min(ROWS_AT_ONCE, count - part * ROWS_AT_ONCE),
  }));

/** After the move: requests that come to the old rows are led to the new ones, and the directory knows where these are. */
async function lead({ run, id, to }: Moving, shards: number[]) {
  for (const shard of shards.filter((each) => each !== to))
    await run(shard, [{ sql: "UPDATE moves SET shard = ? WHERE organization_id = ?", params: [to, id] }]);
  await run(0, [{ sql: "UPDATE places SET shard = ? WHERE id = ?", params: [to, id] }]);
}

/** Deletes the organization's rows in a database in which it does not live. Children go before their parents. */
async function deleteAll(
  { run, id, tables }: Pick<Moving, "run" | "id" | "tables">,
  shard: number,
): Promise<boolean> {
  const found = await run(
    shard,
    tables.map((table) => sql.hasRows(table, id)),
  );
  const filled = tables.filter((_, n) => found[n]?.[0]?.found);
  if (filled.length === 0) return false;
  await run(shard, [sql.requireAbsence(id), sql.deleteListTotals(id)]);
  for (const table of filled.toReversed())
    for (let rest = true; rest; ) {
      await withoutTriggers({ run, id }, shard, [table], [sql.deleteRows(table, id, ROWS_AT_ONCE)]);
      const [[left] = []] = await run(shard, [sql.hasRows(table, id)]);
      rest = Boolean(left?.found);
    }
  return true;
}

/**
 * Deletes what an organization has left in databases from which it moved away.
 *
 * @returns the shards of these
 */
export async function deleteOldRows(run: Run, id: number, shards: number[]): Promise<number[]> {
  const deleted: number[] = [];
  for (const shard of shards) {
    const { tables } = await open(run, { id, to: shard }, () => {});
    const { movedTo, begun } = await stateIn({ run, id }, shard);
    if (movedTo === null) continue;
    if (await deleteAll({ run, id, tables }, shard)) deleted.push(shard);
    const queues = begun.map((to) => sql.dropQueue({ id, to }));
    await run(shard, [...sql.dropTriggers(id, tables), ...queues]);
  }
  return deleted;
}
