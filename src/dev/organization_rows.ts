/** Freezes and deletes all rows of an organization in one database, for a move and for the organization's end. */

import { DatabaseSync } from "node:sqlite";
import { tablesParentsFirst } from "./backup_statements.ts";
import * as sql from "./move_statements.ts";
import type { Rows, Run, Statement } from "./statement_runner.ts";

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

/** @param requirements statements that fail the batch if the organization must not be frozen */
export async function refuseWrites(
  { run, id, tables, since }: Frozen,
  shard: number,
  requirements: Statement[],
): Promise<void> {
  await run(shard, [sql.mark(id, since)]);
  await run(shard, [...requirements, ...sql.dropTriggers(id, tables), ...sql.createTriggers(id, tables)]);
}

/** Deletes the rows from a database with a mark in `moves`, children before parents. Returns whether there were any. */
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

/** The number of the organization's rows in these databases, by table. Tables without rows are left out. */
export async function countRows(
  { run, id, tables }: OrganizationRows,
  shards: number[],
): Promise<Map<string, number>> {
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

/** The `hidden` of a computed column in `pragma_table_xinfo`. */
const COMPUTED = 2;

export interface Table {
  name: string;
  columns: { name: string; type: string; isStored: boolean }[];
}

/** The tables of a schema, parents first. The schema does not include the tables of SQLite and D1 themselves. */
export function tablesOf(schema: Rows): Table[] {
  const database = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  for (const { type, sql } of schema) if (type === "table") database.exec(String(sql));
  const columns = database.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?)");
  const tables = tablesParentsFirst(database).map((name) => ({
    name,
    columns: columns.all(name).map(({ name, type, hidden }) => ({
      name: String(name),
      type: String(type),
      isStored: hidden !== COMPUTED,
    })),
  }));
  database.close();
  return tables;
}

/**
 * Returns a function that runs statements on the rows of an organization that does not live in the database. One transaction
 * drops the table's triggers, runs the statements, and creates the triggers again: they would write events, entries and metrics a
 * second time. The function fails if the triggers have changed since they were read.
 */
export async function withoutTriggers(
  run: Run,
  { id, shard }: { id: number; shard: number },
  { name: table }: Table,
): Promise<(work: Statement[]) => Promise<Rows[]>> {
  const triggers = `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '${table}' ORDER BY rowid`;
  const [found = []] = await run(shard, [triggers]);
  const before: Statement[] = [
    sql.requireAbsence(id),
    {
      sql: `INSERT INTO write_conflicts (reason) SELECT 'triggers have changed'
        WHERE (SELECT json_group_array(sql) FROM (${triggers})) IS NOT ?`,
      params: [JSON.stringify(found.map((each) => each.sql))],
    },
    ...found.map(({ name }) => `DROP TRIGGER "${name}"`),
  ];
  const after = found.map((each) => String(each.sql));
  return async (work) =>
    (await run(shard, [...before, ...work, ...after])).slice(before.length, before.length + work.length);
}
