import { requireAbsence } from "./move_statements.ts";
import type { Rows, Run, Statement } from "./statement_runner.ts";
import type { Table } from "./tables.ts";

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
    requireAbsence(id),
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
