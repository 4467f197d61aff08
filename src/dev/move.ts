/**
 * Moves an organization to another database: freeze, copy, compare, switch, thaw.
 *
 * 1. To another region, the files are copied first, and again once nothing can be written.
 *    A mark in `moves` keeps background work away from the organization. When no mail or webhook is being sent any more, triggers
 *    in the old database refuse every write of the organization, which gets 503. Reads continue, unless the access log records them.
 * 2. The new database takes a range of ids. The rows are copied with their ids. A mark keeps background work away from them too.
 * 3. The counts and digests of every table must be equal in both databases.
 * 4. One statement in the old database is the switch: its mark now says where the organization lives. Before the switch, the move
 *    can be undone, or started again. After it, another run completes the remaining steps.
 * 5. The mark in the new database is removed, and the directory gets the new place. The old rows stay frozen.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { CLIENT_KNOWN_FOR } from "../lifetimes.ts";
import { SECOND } from "../units.ts";
import { SCHEMA } from "./exported_copy.ts";
import { type Between, copyFiles, deleteCopies, deleteDays } from "./move_files.ts";
import { copyRows, type Moving } from "./move_rows.ts";
import type { Move } from "./move_statements.ts";
import * as sql from "./move_statements.ts";
import { deleteRows, refuseWrites, tablesOf } from "./organization_rows.ts";
import { IS_QUIET } from "./quiet_statements.ts";
import type { Regions } from "./region_files.ts";
import type { Run } from "./statement_runner.ts";

/** In milliseconds. Isolates cache an organization's place and a client for a minute each. */
export const OLD_PLACE_USED_FOR = 2 * CLIENT_KNOWN_FOR;

/** The time between two checks for a mail or webhook being sent, in milliseconds. Their leases expire by themselves. */
const LOOK_AGAIN_AFTER = SECOND;

/** @throws Error if the organization does not exist, or a database is quiet */
export async function open(run: Run, move: Move, say: Moving["say"] = () => {}) {
  const { id, to } = move;
  const [[place] = []] = await run(0, [
    { sql: "SELECT slug, shard FROM places WHERE id = ? AND deleted_at IS NULL", params: [id] },
  ]);
  if (!place) throw new Error(`There is no organization ${id}.`);
  const from = Number(place.shard);
  const [schema = [], quiet = []] = await run(to, [SCHEMA, IS_QUIET]);
  const [quietThere = []] = await run(from, [IS_QUIET]);
  if (quiet.length + quietThere.length > 0)
    throw new Error(
      "A database was restored and is quiet: run `npm run restore -- --resume`, in production with --remote, before you move anything.",
    );
  const tables = tablesOf(schema).filter(sql.isMoved);
  return { ...move, slug: String(place.slug), run, from, tables, since: Date.now(), say };
}

/** An organization that may have moved. */
export interface Moved {
  id: number;
  run: Run;
  /** The numbers of all databases. */
  shards: number[];
  regions?: Regions | undefined;
}

/** The databases in which an organization has left rows, in the order in which it left them. */
export async function leftBehind({ id, run, shards, regions }: Moved) {
  const left = [];
  for (const shard of shards) {
    const { from: home, slug, tables } = await open(run, { id, to: shard });
    const { movedTo, since } = await stateIn({ run, id }, shard);
    if (movedTo !== null)
      left.push({ shard, home, slug, tables, since, between: betweenOf(regions, shard, home) });
  }
  return left.sort((one, other) => one.since - other.since);
}

export async function stateIn({ run, id }: Pick<Moving, "run" | "id">, shard: number) {
  const [[row] = [], [mark] = []] = await run(shard, [
    { sql: "SELECT id FROM organizations WHERE id = ?", params: [id] },
    { sql: "SELECT shard, since FROM moves WHERE organization_id = ?", params: [id] },
  ]);
  return {
    hasRows: row !== undefined,
    isMarked: mark !== undefined,
    movedTo: mark?.shard ?? null,
    since: Number(mark?.since),
  };
}

/** The buckets to copy files between. Undefined within a region. */
export const betweenOf = (regions: Regions | undefined, from: number, to: number): Between | undefined =>
  regions && regions.regionOf(from) !== regions.regionOf(to)
    ? { from: regions.filesOf(from), to: regions.filesOf(to) }
    : undefined;

/** Starts again from the beginning if an earlier run was interrupted. If that run had switched, completes the move and returns null. */
export async function moveOrganization(
  run: Run,
  move: Move,
  shards: number[],
  say?: (line: string) => void,
  regions?: Regions,
) {
  const moving = await open(run, move, say);
  const { id, to, from, say: report } = moving;
  const source = await stateIn(moving, from);
  if (from === to && source.isMarked)
    throw new Error(
      `According to the directory, the organization lives in shard ${to}, but that shard does not serve it. Was one of the databases restored? Nothing was done.`,
    );
  if (from === to || source.movedTo === to) {
    await complete(moving, shards);
    report(`Organization ${id} lives in shard ${to}.`);
    return null;
  }
  if (source.movedTo !== null)
    throw new Error(
      `The organization has moved to shard ${source.movedTo}: first complete that move, with --to ${source.movedTo}.`,
    );
  report(`Organization ${id} moves from shard ${from} to shard ${to}.`);
  await prepare(moving);
  const between = betweenOf(regions, from, to);
  let files = 0;
  const compared = new Set<string>();
  const copy = async () => {
    if (between) files += await copyFiles(moving, between, report, { compared });
  };
  await copy();
  try {
    await freeze(moving);
    const started = performance.now();
    await copy();
    if (between) await deleteCopies(moving, between, { run, home: from });
    // After the freeze, so that the organization has written nothing in a higher range. Before the first row is inserted: its id would
    // raise the database's next ids into another database's range.
    await takeRange(moving, sql.newRange(to));
    const rows = await copyRows(moving);
    await compare(moving);
    await run(to, [sql.requireAbsence(id), ...sql.countLists(id)]);
    const [[switched] = []] = await run(from, [sql.switchTo(moving, Date.now())]);
    if (!switched) throw new Error("Another run has taken over the move, or undone it.");
    await complete(moving, shards);
    return { rows, files, frozen_for_ms: performance.now() - started };
  } catch (error) {
    await undoOwn(moving).catch(() => report("The move was interrupted. Run it again, or with --undo."));
    throw error;
  }
}

/** Prepares the new database. Writes are not refused yet. */
async function prepare(moving: Moving) {
  const { run, id, from, to } = moving;
  const { hasRows, isMarked, since } = await stateIn(moving, to);
  if (hasRows && !isMarked)
    throw new Error(
      `According to the directory, the organization lives in shard ${from}, but shard ${to} serves it too. Was one of the databases restored? Nothing was done.`,
    );
  requireOldPlaceUnused(since);
  await run(to, [sql.markAsArriving(id, from)]);
  await deleteRows(moving, to);
}

/** @throws Error while an isolate may still read the rows that the organization has left behind */
function requireOldPlaceUnused(since: number) {
  if (Date.now() < since + OLD_PLACE_USED_FOR)
    throw new Error(
      "The organization has just moved, and some requests still use its old rows: wait two minutes.",
    );
}

/** Waits for mails and webhooks being sent: their outcome must be written here, or the other database would send them again. */
async function freeze(moving: Moving) {
  for (let tries = 0; ; tries++)
    try {
      await refuseWrites(moving, moving.from, [sql.requireNothingUnderWay(moving.id, Date.now())]);
      return;
    } catch (error) {
      if (!(error as Error).message.includes(sql.IS_UNDER_WAY)) throw error;
      if (tries === 0)
        moving.say("A mail or a webhook of the organization is being sent: waiting for its end.");
      await sleep(LOOK_AGAIN_AFTER);
    }
}

async function compare({ run, id, from, to, tables }: Moving) {
  const digests = tables.map((table) => sql.digestOf(table, id));
  const [here, there] = [await run(from, digests), await run(to, digests)];
  const differing = tables.filter((_, n) => here[n]?.[0]?.digest !== there[n]?.[0]?.digest);
  if (differing.length > 0)
    throw new Error(
      `The rows differ after they were copied: ${differing.map(({ name }) => name).join(", ")}.`,
    );
}

/** Completes the move after the switch. The marks in all former databases then point to the new one. May be run again. */
async function complete({ run, id, to, tables }: Moving, shards: number[]) {
  const [[mark] = []] = await run(to, [`SELECT 1 FROM moves WHERE organization_id = ${id}`]);
  // The database may still have triggers from an earlier move of the organization away from it.
  if (mark) await run(to, [sql.unmark(id), ...sql.dropTriggers(id, tables)]);
  for (const shard of shards.filter((each) => each !== to))
    await run(shard, [`UPDATE moves SET shard = ${to} WHERE organization_id = ${id}`]);
  await run(0, [`UPDATE places SET shard = ${to} WHERE id = ${id}`]);
}

/** @returns the time until which a lock keeps copied sealed days */
export async function undoMove(run: Run, move: Move, regions?: Regions): Promise<number | undefined> {
  const moving = await open(run, move);
  const { id, to, from } = moving;
  if (from === to || (await stateIn(moving, from)).movedTo !== null)
    throw new Error(`Organization ${id} has moved. To go back, move it to where it was.`);
  await undo(moving);
  const between = betweenOf(regions, from, to);
  if (!between) return undefined;
  await deleteCopies(moving, between, { run, home: from, isUndone: true });
  return deleteDays(id, between.to);
}

async function undoOwn(moving: Moving) {
  const { movedTo, since } = await stateIn(moving, moving.from);
  if (movedTo !== null) throw new Error("The move has switched.");
  if (since === moving.since) await undo(moving);
}

/** Lets writes continue, and deletes the copied rows. May be run again. */
async function undo(moving: Moving) {
  const { run, id, to, from, tables } = moving;
  await run(from, [sql.requireUnswitched(id), sql.unmark(id), ...sql.dropTriggers(id, tables)]);
  const { isMarked, since } = await stateIn(moving, to);
  if (!isMarked) return;
  requireOldPlaceUnused(since);
  await deleteRows(moving, to);
  await takeRange(moving, sql.GIVEN_RANGE(to));
  await run(to, [sql.unmarkArriving(id)]);
}

/** @param range a query of the directory; if it returns no range, nothing changes */
async function takeRange({ run, to }: Moving, range: string) {
  const [[given] = []] = await run(0, [range]);
  if (given) await run(to, sql.takeRange(to, Number(given.range)));
}

/** Deletes the rows that an organization has left behind, and returns the numbers of the databases that had some. */
export async function deleteOldRows(run: Run, id: number, shards: number[]): Promise<number[]> {
  const deleted: number[] = [];
  for (const { shard, tables, since } of await leftBehind({ run, id, shards })) {
    requireOldPlaceUnused(since);
    if (await deleteRows({ run, id, tables }, shard)) deleted.push(shard);
    await run(shard, sql.dropTriggers(id, tables));
  }
  return deleted;
}
