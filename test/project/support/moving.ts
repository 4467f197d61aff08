/** Organizations that move between databases in memory. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { tablesParentsFirst } from "../../../src/dev/backup_statements.ts";
import { SCHEMA } from "../../../src/dev/exported_copy.ts";
import { isMoved } from "../../../src/dev/move_statements.ts";
import { tablesOf } from "../../../src/dev/size_statements.ts";
import type { Run, Statement } from "../../../src/dev/statement_runner.ts";
import type { Rows } from "../../../src/dev/wrangler.ts";
import { Statement as D1Statement } from "./d1_binding.ts";
import { executeOn } from "./service_in_memory.ts";

/** Runs statements in databases of this process, each batch as a transaction. */
export const runIn = (databases: DatabaseSync[]): Run => {
  const execute = databases.map((database) => executeOn(database));
  return async (shard, statements) => {
    const bound = statements.map(
      ({ sql, params = [] }: Statement) => new D1Statement(async () => [], sql, params),
    );
    const answer = await execute[shard]?.(bound, undefined, true);
    return (answer?.results ?? []).map(({ results }) => results as Rows);
  };
};

/** Dies after so many batches: nothing more is done, not even what would take back what was begun. */
export function dyingAfter(batches: number, run: Run): Run {
  let left = batches;
  return async (shard, statements) => {
    if (left === 0) throw new Error("killed");
    left--;
    return run(shard, statements);
  };
}

const schemaOf = (database: DatabaseSync) => database.prepare(SCHEMA).all() as Rows;

/** A digest of the rows that an organization has, by table. What is computed, and rowids that nobody sees, are left out. */
export function digestsOf(
  database: DatabaseSync,
  id: number,
): Record<string, { count: number; sha256: string }> {
  const tables = tablesOf(
    schemaOf(database).filter(({ name }) => !/^mov(ed|ing)_/.test(String(name))),
  ).filter(isMoved);
  return Object.fromEntries(
    tables.map(({ name, columns }) => {
      const stored = columns.filter(({ isStored }) => isStored).map((column) => `"${column.name}"`);
      const owner = name === "organizations" ? "id" : "organization_id";
      const rows = database
        .prepare(`select ${stored} from ${name} where ${owner} = ? order by ${stored}`)
        .all(id);
      const hash = createHash("sha256");
      for (const row of rows)
        hash.update(
          JSON.stringify(row, (_, value) => (ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value)),
        );
      return [name, { count: rows.length, sha256: hash.digest("hex") }];
    }),
  );
}

/** The lengths of the organization's lists, in the words of the triggers. */
export const listTotalsOf = (database: DatabaseSync, id: number) =>
  database
    .prepare(
      `select list, owner_id, total from list_totals where total > 0 and (owner_id = ?1 and list in ('invites', 'waiting_rooms')
        or owner_id in (select id from egresses where organization_id = ?1) and list like 'egress%') order by 1, 2`,
    )
    .all(id);

export const triggersOf = (database: DatabaseSync) =>
  database
    .prepare("select name, sql from sqlite_schema where type = 'trigger' order by tbl_name, rowid")
    .all();

/** The tables and triggers that a move makes for itself. */
export const scaffoldingIn = (database: DatabaseSync) =>
  schemaOf(database)
    .map(({ name }) => String(name))
    .filter((name) => /^(moving|moved|capture|freeze)_/.test(name));

export const allTables = (database: DatabaseSync) => tablesParentsFirst(database);

/** The databases in which requests find the organization, and may write. */
export const homesOf = (databases: DatabaseSync[], id: number): number[] =>
  databases.flatMap((database, shard) =>
    database.prepare("select 1 from organizations where id = ?").get(id) &&
    !database.prepare("select 1 from moves where organization_id = ?").get(id)
      ? [shard]
      : [],
  );
