import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { PORTION } from "../../src/dev/size_statements.ts";
import { writeRowsInEveryTable } from "../project/support/every_table.ts";
import { done, refused } from "./support/ended.ts";
import { openDatabase, tablesIn } from "./support/local_databases.ts";
import { npmRun } from "./support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "sizes-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

let printed: string;
/** The rows and bytes that the command printed, by organization and table. */
let sizes: Map<string, { rows: number; bytes: number }>;
let database: DatabaseSync;

beforeAll(async () => {
  cpSync(inject("migratedState"), folder, { recursive: true });
  database = openDatabase(folder);
  writeRowsInEveryTable(database);
  writeManyNotes(1, 3000);
  writeManyNotes(2, 1000);
  // As if most of an organization's notes had been deleted, or had come from elsewhere: ids are far apart.
  database.exec(`update call_texts set id = id + ${2 * PORTION} where id = (select max(id) from call_texts)`);
  database.exec(`update call_texts set id = id + ${3 * RANGE} where id = (select max(id) from call_texts)`);
  printed = await done(npmRun("sizes", "--", "--persist-to", folder));
  sizes = new Map(
    [...printed.matchAll(/^(\d+|-) +(\S+|\(no organization\)) +(\w+|all tables) +(\d+) +(\d+)$/gm)].map(
      ([, organization, , table, rows, bytes]) => [
        `${organization} ${table}`,
        { rows: Number(rows), bytes: Number(bytes) },
      ],
    ),
  );
});

afterAll(() => database.close());

/** Calls with a note of some 2 KB each. */
function writeManyNotes(organization: number, count: number) {
  const calls = `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, failed, created_at, updated_at)
    select organization_id, 'visit-' || organization_id || '-' || n, organization_user_id, waiting_room_id, started_at + n, 0, started_at, started_at
    from (select * from calls where organization_id = ${organization} limit 1), counter`;
  const notes = `insert into call_texts (organization_id, call_id, kind, text, is_final, created_at, updated_at)
    select organization_id, id, 'soap_note', replace(hex(zeroblob(500 + id % 1000)), '00', 'é'), 1, started_at, started_at
    from calls where organization_id = ${organization} and key like 'visit-%'`;
  database.exec(
    `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ${count}) ${calls}; ${notes}`,
  );
}

const isOwned = (table: string) =>
  database.prepare("select 1 from pragma_table_info(?) where name = 'organization_id'").get(table) !==
  undefined;

describe("The command that prints sizes", () => {
  it("counts the rows of every table for each organization, and those of none", () => {
    const counted = new Map<string, number>();
    for (const table of tablesIn(database)) {
      const owner = table === "organizations" ? "id" : isOwned(table) ? "organization_id" : "'-'";
      const rows = database
        .prepare(`select ${owner} as owner, count(*) as n from "${table}" group by 1`)
        .all();
      for (const { owner, n } of rows) counted.set(`${owner} ${table}`, Number(n));
    }
    const shown = [...sizes].filter(([key]) => !key.endsWith("all tables"));
    expect(Object.fromEntries(shown.map(([key, { rows }]) => [key, rows]))).toEqual(
      Object.fromEntries(counted),
    );
    expect(new Set(shown.map(([key]) => key.split(" ")[0]))).toEqual(new Set(["1", "2", "-"]));
  });

  it("estimates bytes that are near those of SQLite's pages", () => {
    const pages = database.prepare(`select sum(pgsize) as bytes from dbstat where name in
      (select name from sqlite_schema where tbl_name = ?)`);
    for (const table of ["calls", "call_texts"]) {
      const estimated = (sizes.get(`1 ${table}`)?.bytes ?? 0) + (sizes.get(`2 ${table}`)?.bytes ?? 0);
      const real = Number(pages.get(table)?.bytes);
      expect(estimated / real, table).toBeGreaterThan(0.7);
      expect(estimated / real, table).toBeLessThan(1.3);
    }
    expect(printed).toMatch(/^1 +clinic-1 +all tables/m);
  });
});

it("A database without tables has no sizes, and the command says what makes them", async () => {
  const output = await refused(npmRun("sizes", "--", "--persist-to", join(folder, "empty")));
  expect(output).toContain("The database has no tables: `npm run dev` makes the local ones");
});
