/**
 * Deletes a suspended organization: freeze, keep the access log, mark, files, rows.
 *
 * 1. Triggers refuse every write of the organization, as in a move. If it is not suspended, or has a legal hold, nothing is done.
 * 2. The seals of its access log, and the entries that no sealed file has, are kept on the operator's machine.
 * 3. The directory marks its place as deleted. The place stays, so that its slug is never given out again.
 * 4. Its files are deleted, then its rows, in portions, in every database in which it lives or has lived.
 *
 * An interrupted run is completed by another one.
 */
import { SCHEMA } from "./exported_copy.ts";
import * as sql from "./move_statements.ts";
import { deleteRows, freeze, type OrganizationRows } from "./organization_rows.ts";
import type { Run, Statement } from "./statement_runner.ts";
import { tablesOf } from "./tables.ts";

/** Entries of the access log that are read at once. */
const ENTRIES_AT_ONCE = 1000;

export interface Leaving extends OrganizationRows {
  slug: string;
  /** The database in which it lives. */
  home: number;
  /** All databases. */
  shards: number[];
  /** Whether an earlier run has marked the place as deleted. */
  isMarked: boolean;
  since: number;
  say: (line: string) => void;
}

/** @throws Error if there is no such organization, or if it may not be deleted */
export async function openLeaving(
  run: Run,
  id: number,
  shards: number[],
  say: Leaving["say"],
): Promise<Leaving> {
  const [[place] = []] = await run(0, [`SELECT slug, shard, deleted_at FROM places WHERE id = ${id}`]);
  if (!place) throw new Error(`There is no organization ${id}.`);
  const home = Number(place.shard);
  const [schema = [], [refusal] = []] = await run(home, [SCHEMA, refusalOf(id)]);
  const isMarked = place.deleted_at !== null;
  if (refusal && !isMarked) throw new Error(String(refusal.reason));
  const tables = tablesOf(schema).filter(sql.isMoved);
  return { run, id, tables, slug: String(place.slug), home, shards, isMarked, since: Date.now(), say };
}

/** Selects why the organization may not be deleted; nothing if it may. */
const refusalOf = (id: number) => `SELECT reason FROM (
    SELECT 'The database was restored and is quiet: run \`npm run restore -- --resume\` first.' AS reason
      FROM database_settings WHERE name = 'quiet'
    UNION ALL SELECT 'The organization is not suspended: suspend it first.'
      FROM organizations WHERE id = ${id} AND NOT is_suspended
    UNION ALL SELECT 'The organization has calls under legal hold: end the holds first.'
      FROM calls WHERE organization_id = ${id}
      AND EXISTS (SELECT 1 FROM legal_holds WHERE call_id = calls.id AND ended_at IS NULL)
  ) LIMIT 1`;

/** The number of rows in all databases, by table. Tables without rows are left out. */
export async function countRows({ run, id, tables, shards }: Leaving): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const shard of shards) {
    const statements = tables.map((table) => sql.countRows(table, id));
    const found = await run(shard, statements);
    for (const [n, { name }] of tables.entries()) {
      const rows = Number(found[n]?.[0]?.rows);
      if (rows > 0) counts.set(name, (counts.get(name) ?? 0) + rows);
    }
  }
  return counts;
}

interface Means {
  /** Deletes all files with this prefix. */
  deleteFiles: (prefix: string) => Promise<unknown>;
  /** Keeps lines of JSON. */
  keep: (lines: AsyncIterable<string>) => Promise<unknown>;
}

/** @throws Error if it may not be deleted any more, or its access log could not be kept; then nothing was deleted */
export async function deleteOrganization(leaving: Leaving, { deleteFiles, keep }: Means): Promise<void> {
  const { run, id, slug, home, shards, tables, isMarked, since } = leaving;
  const release = [...sql.dropTriggers(id, tables), sql.unmark(id)];
  if (isMarked) await freeze(leaving, home);
  else
    try {
      await freeze(leaving, home, [requireDeletable(id)]);
      await keep(restOfAccessLog(leaving));
      await run(0, [markPlace(id, Date.now())]);
    } catch (error) {
      await run(home, release);
      throw error;
    }
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
