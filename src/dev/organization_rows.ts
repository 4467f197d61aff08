/** Freezes and deletes all rows of an organization in one database, for a move and for the organization's end. */
import * as sql from "./move_statements.ts";
import type { Run, Statement } from "./statement_runner.ts";
import type { Table } from "./tables.ts";
import { withoutTriggers } from "./without_triggers.ts";

/** The number of rows that one transaction deletes, so that other requests wait for less than a second. */
const ROWS_AT_ONCE = 20_000;

export interface OrganizationRows {
  run: Run;
  id: number;
  /** Parents first. */
  tables: Table[];
}

export interface Frozen extends OrganizationRows {
  /** The start of this run, in milliseconds. The organization's row in `moves` identifies the run by it. */
  since: number;
}

/**
 * Refuses the organization's writes from now on. Before that, a mark stops its background work.
 *
 * @param requirements statements that fail the batch if the organization must not be frozen
 */
export async function refuseWrites(
  { run, id, tables, since }: Frozen,
  shard: number,
  requirements: Statement[],
): Promise<void> {
  await run(shard, [sql.mark(id, since)]);
  await run(shard, [...requirements, ...sql.dropTriggers(id, tables), ...sql.createTriggers(id, tables)]);
}

/**
 * Deletes the organization's rows from a database that has a mark for it in `moves`, children before parents.
 *
 * @returns whether there were any
 */
export async function deleteRows({ run, id, tables }: OrganizationRows, shard: number): Promise<boolean> {
  const found = await run(
    shard,
    tables.map((table) => sql.hasRows(table, id)),
  );
  const filled = tables.filter((_, n) => found[n]?.[0]?.found);
  if (filled.length === 0) return false;
  await run(shard, [sql.requireAbsence(id), sql.deleteListTotals(id)]);
  for (const table of filled.toReversed()) {
    const write = await withoutTriggers(run, { id, shard }, table);
    for (let rest = true; rest; ) {
      await write([sql.deleteRows(table, id, ROWS_AT_ONCE)]);
      const [[left] = []] = await run(shard, [sql.hasRows(table, id)]);
      rest = Boolean(left?.found);
    }
  }
  return true;
}
