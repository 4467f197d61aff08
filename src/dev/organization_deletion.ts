/**
 * Deletes a suspended organization: freeze, keep the access log, mark, files, rows.
 *
 * 1. Triggers refuse every write of the organization, as in a move. If it is not suspended, or has a legal hold, nothing changes.
 * 2. The seals of its access log, and the entries that no sealed file has, are kept on the operator's machine.
 * 3. The directory marks its place as deleted. The place stays, so that its slug is never given out again.
 * 4. Its files are deleted, then its rows, in portions, in every database in which it lives or has lived.
 *
 * An interrupted run is completed by another one. Until step 3, it can also be undone.
 */
import { SCHEMA } from "./exported_copy.ts";
import * as sql from "./move_statements.ts";
import { deleteRows, type Frozen, refuseWrites, tablesOf } from "./organization_rows.ts";
import { IS_QUIET } from "./quiet_statements.ts";
import type { Run, Statement } from "./statement_runner.ts";

/** Entries of the access log that are read at once. */
const ENTRIES_AT_ONCE = 1000;

export interface Leaving extends Frozen {
  slug: string;
  /** The database in which it lives. */
  home: number;
  /** All databases. */
  shards: number[];
  /** Whether an earlier run was interrupted after it had marked the place as deleted. */
  isBegun: boolean;
  /** Why it may not be deleted. */
  refusal: string | undefined;
}

/** @throws Error if there is no such organization, or a database is not ready to delete it */
export async function openLeaving(run: Run, id: number, shards: number[]): Promise<Leaving> {
  const [[place] = []] = await run(0, [`SELECT slug, shard, deleted_at FROM places WHERE id = ${id}`]);
  if (!place) throw new Error(`There is no organization ${id}.`);
  const isMarked = place.deleted_at !== null;
  // The database of a deleted organization may be gone.
  const home = isMarked && !shards.includes(Number(place.shard)) ? 0 : Number(place.shard);
  for (const shard of shards) if ((await run(shard, [IS_QUIET]))[0]?.[0]) throw new Error(QUIET);
  const [schema = [], [row] = [], [mark] = [], [refusal] = []] = await run(home, [
    SCHEMA,
    `SELECT id FROM organizations WHERE id = ${id}`,
    `SELECT shard FROM moves WHERE organization_id = ${id}`,
    refusalOf(id),
  ]);
  if (mark && mark.shard !== null)
    throw new Error(`The organization is moving: first complete that, with --to ${mark.shard}.`);
  if (!row && !isMarked) throw new Error(`Organization ${id} has no data: its creation was interrupted.`);
  // Without a mark in `moves`, a restore has brought the rows back.
  const isBegun = isMarked && !(row && !mark);
  const tables = tablesOf(schema).filter(sql.isMoved);
  return {
    run,
    id,
    tables,
    slug: String(place.slug),
    home,
    shards,
    isBegun,
    since: Date.now(),
    refusal: refusal && !isBegun ? String(refusal.reason) : undefined,
  };
}

/** Lets an organization continue that an interrupted run has frozen: otherwise its webhooks and its retention would stop for good. */
export async function unfreeze({ run, id, tables, home, isBegun }: Leaving): Promise<void> {
  if (isBegun)
    throw new Error("An earlier run has begun to delete its data, so it cannot continue: run this again.");
  await run(home, [sql.requireUnswitched(id), ...sql.dropTriggers(id, tables), sql.unmark(id)]);
}

const QUIET =
  "A database was restored and is quiet: run `npm run restore -- --resume` first, in production with --remote.";

/** Selects why the organization may not be deleted; nothing if it may. */
const refusalOf = (id: number) => `SELECT reason FROM (
    SELECT 'The organization is not suspended: suspend it first.' AS reason
      FROM organizations WHERE id = ${id} AND NOT is_suspended
    UNION ALL SELECT 'The organization has calls under legal hold: end the holds first.'
      FROM calls WHERE organization_id = ${id}
      AND EXISTS (SELECT 1 FROM legal_holds WHERE call_id = calls.id AND ended_at IS NULL)
  ) LIMIT 1`;

interface Means {
  deleteFiles: (prefix: string) => Promise<unknown>;
  keep: (lines: AsyncIterable<string>) => Promise<unknown>;
}

/** @throws Error if it may not be deleted any more, or its access log could not be kept; then nothing was deleted */
export async function deleteOrganization(leaving: Leaving, { deleteFiles, keep }: Means): Promise<void> {
  const { run, id, slug, home, shards, tables, isBegun, since } = leaving;
  const release = [...sql.dropTriggers(id, tables), sql.unmark(id)];
  if (isBegun) await refuseWrites(leaving, home, []);
  else
    try {
      await refuseWrites(leaving, home, [sql.requireOwnMark(id, since), requireDeletable(id)]);
      await keep(restOfAccessLog(leaving));
    } catch (error) {
      await run(home, [sql.requireOwnMark(id, since), ...release]);
      throw error;
    }
  await run(home, [sql.requireOwnMark(id, since)]);
  // If this or a later step fails, the organization stays frozen, and another run completes the deletion.
  await run(0, [markPlace(id, Date.now())]);
  await deleteFiles(`${slug}/`);
  for (const shard of [...shards.filter((each) => each !== home), home]) {
    await run(shard, [sql.mark(id, since)]);
    await deleteRows(leaving, shard);
    await run(shard, release);
  }
}

const requireDeletable = (id: number) => `INSERT INTO write_conflicts (reason) ${refusalOf(id)}`;

const markPlace = (id: number, now: number): Statement => ({
  sql: `UPDATE places SET deleted_at = ? WHERE id = ${id} AND deleted_at IS NULL`,
  params: [now],
});

async function* restOfAccessLog({ run, id, home, tables }: Leaving): AsyncGenerator<string> {
  for (const table of tables.filter(({ name }) => ["access_log_seals", "access_logs"].includes(name)))
    for (let after = 0, isMore = true; isMore; ) {
      const [rows = []] = await run(home, [sql.readUnsealed(table, id, after, ENTRIES_AT_ONCE)]);
      for (const { data } of rows) yield String(data);
      after = Number(rows.at(-1)?.id);
      isMore = rows.length === ENTRIES_AT_ONCE;
    }
}
