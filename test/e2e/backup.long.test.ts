import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { QUIETING_STATEMENTS } from "../../src/dev/quiet_statements.ts";
import { ALL_BYTES, LONG_TEXT, writeRowsInEveryTable } from "../project/support/every_table.ts";
import { done, refused } from "./support/ended.ts";
import { openDatabase, rowsIn, tablesIn } from "./support/local_databases.ts";
import { npmRun } from "./support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "backup-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const path = (name: string) => join(folder, name);

const begun = Date.now();

/** Everything in a database. Times since the test began differ between the source and its copy. */
function everythingIn(state: string) {
  const database = openDatabase(path(state));
  const schema = database
    .prepare(
      "select type, name, tbl_name, sql from sqlite_schema where name not like '\\_cf%' escape '\\' order by name",
    )
    .all();
  const rowsOf = (table: string) =>
    rowsIn(database, table)
      .map((row) => row.replace(/\d{13}/g, (time) => (Number(time) < begun ? time : "now")))
      .sort();
  const rows = Object.fromEntries(tablesIn(database).map((table) => [table, rowsOf(table)]));
  expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
  database.close();
  return { schema, rows };
}

const restore = (input: string, state: string) =>
  npmRun("restore", "--", "--input", path(input), "--persist-to", path(state));

let restored: string;

beforeAll(async () => {
  cpSync(inject("migratedState"), path("source"), { recursive: true });
  const source = openDatabase(path("source"));
  writeRowsInEveryTable(source);
  // No table has a blob yet.
  source.exec("create table documents (id integer primary key, content blob not null)");
  const long = new Uint8Array(400_000).map((_, place) => (place * 7) % 256);
  source.prepare("insert into documents (content) values (?), (?)").run(ALL_BYTES, long);
  source.close();
  const to = ["--output", path("backup.sql"), "--persist-to", path("source")];
  expect(await done(npmRun("backup", "--", ...to))).toContain("contains health data");
  restored = await done(restore("backup.sql", "restored"));
});

describe("npm run backup", () => {
  it("writes a file that restores every row, table, index, trigger and view, and makes the database quiet", () => {
    expect(restored).toContain("Restored. All foreign keys are valid.");
    expect(restored).toMatch(/Webhook endpoints that are inactive until then: [1-9]\d*\.\n/);
    const { rows } = everythingIn("source");
    const empty = Object.keys(rows).filter((table) => rows[table]?.length === 0);
    expect(empty, "Only write_conflicts has no rows: every_table.ts must fill the others.").toEqual([
      "write_conflicts",
    ]);
    expect(rows.call_texts?.some((row) => row.includes(JSON.stringify(LONG_TEXT)))).toBe(true);
    const source = openDatabase(path("source"));
    for (const statement of QUIETING_STATEMENTS) source.exec(statement);
    source.close();
    expect(everythingIn("restored")).toEqual(everythingIn("source"));
  });

  it.skipIf(process.platform === "win32")("writes a file that only its owner can read", () => {
    expect(statSync(path("backup.sql")).mode & 0o777).toBe(0o600);
  });
});

describe("npm run restore", () => {
  it("refuses a database that has tables, and changes nothing in it", async () => {
    const before = everythingIn("restored");
    expect(await refused(restore("backup.sql", "restored"))).toContain("The database is not empty");
    expect(everythingIn("restored")).toEqual(before);
  });

  it("refuses a file that was cut off", async () => {
    writeFileSync(path("half.sql"), readFileSync(path("backup.sql")).subarray(0, -100));
    expect(await refused(restore("half.sql", "never"))).toContain("is not a complete file");
    expect(readdirSync(folder)).not.toContain("never");
  });

  it("shows no data of a damaged file", async () => {
    const end = readFileSync(path("backup.sql"), "utf8").trimEnd().split("\n").at(-1);
    writeFileSync(path("damaged.sql"), `SELECT 'Rita Recipient\n${end}\n`);
    const said = await refused(restore("damaged.sql", "damaged"));
    expect(said).toContain("The file cannot be loaded: D1_ERROR: ");
    expect(said).not.toContain("Rita");
  });
});
