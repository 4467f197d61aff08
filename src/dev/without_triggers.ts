import type { Moving } from "./move_rows.ts";
import { requireAbsence } from "./move_statements.ts";
import type { Table } from "./size_statements.ts";
import type { Statement } from "./statement_runner.ts";

/**
 * Runs statements on rows of an organization that does not live in the database, while their tables have no triggers, in one
 * transaction. It fails if these have changed since they were read.
 */
export async function withoutTriggers(
  { run, id }: Pick<Moving, "run" | "id">,
  shard: number,
  tables: Table[],
  work: Statement[],
) {
  const names = JSON.stringify(tables.map(({ name }) => name));
  const triggers = `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN (SELECT value FROM json_each(?)) ORDER BY rowid`;
  const [found = []] = await run(shard, [{ sql: triggers, params: [names] }]);
  await run(shard, [
    requireAbsence(id),
    {
      sql: `INSERT INTO write_conflicts (reason) SELECT 'triggers have changed'
        WHERE (SELECT json_group_array(sql) FROM (${triggers})) IS NOT ?`,
      params: [names, JSON.stringify(found.map((each) => each.sql))],
    },
    ...found.map(({ name }) => `DROP TRIGGER "${name}"`),
    ...work,
    ...found.map((each) => String(each.sql)),
  ]);
}
