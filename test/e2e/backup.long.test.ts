import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { PARTICIPANT_LEAP, SEQUENCE_LEAP } from "../../src/dev/quiet_statements.ts";
import { ALL_BYTES, LONG_TEXT, writeRowsInEveryTable } from "../project/support/every_table.ts";
import { done, refused } from "./support/ended.ts";
import { openDatabase, rowsIn, tablesIn } from "./support/local_databases.ts";
import { npmRun } from "./support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "backup-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const path = (name: string) => join(folder, name);

function everythingIn(state: string) {
  const database = openDatabase(path(state));
  const schema = database
    .prepare(
      "select type, name, tbl_name, sql from sqlite_schema where name not like '\\_cf%' escape '\\' order by name",
    )
    .all();
  const rows = Object.fromEntries(tablesIn(database).map((table) => [table, rowsIn(database, table)]));
  expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
  database.close();
  return { schema, rows };
}

const restore = (input: string, state: string) =>
  npmRun("restore", "--", "--input", path(input), "--persist-to", path(state));

/** The tables that a restore changes to make the copy quiet. */
const CHANGED_BY_A_RESTORE = [
  "database_settings",
  "webhook_endpoints",
  "webhook_deliveries",
  "sequences",
  "sqlite_sequence",
  "visits",
];

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
  it("writes a file that restores every row, table, index, trigger and view into an empty database", () => {
    expect(restored).toContain("Restored. All foreign keys are valid.");
    expect(restored).toMatch(/Webhook endpoints that are inactive until then: [1-9]\d*\.\n/);
    const source = everythingIn("source");
    const empty = Object.keys(source.rows).filter((table) => source.rows[table]?.length === 0);
    expect(empty, "Only write_conflicts has no rows: every_table.ts must fill the others.").toEqual([
      "write_conflicts",
    ]);
    expect(source.rows.call_texts?.some((row) => row.includes(JSON.stringify(LONG_TEXT)))).toBe(true);
    const copy = everythingIn("restored");
    expect(copy.schema).toEqual(source.schema);
    const others = Object.entries(source.rows).filter(([table]) => !CHANGED_BY_A_RESTORE.includes(table));
    for (const [table, rows] of others) expect(copy.rows[table], table).toEqual(rows);
  });

  it("writes a file that makes the restored database quiet, even if it is loaded by other means", () => {
    const [source, copy] = [openDatabase(path("source")), openDatabase(path("restored"))];
    const rowsOf = (database: DatabaseSync, query: string) => database.prepare(query).all();
    const both = (query: string) => [rowsOf(copy, query), rowsOf(source, query)];
    expect(rowsOf(copy, "select value from database_settings where name = 'quiet'")).toEqual([
      { value: expect.any(Number) },
    ]);
    expect(rowsOf(copy, "select id from webhook_endpoints where is_active")).toEqual([]);
    expect(rowsOf(copy, "select * from webhook_deliveries order by 1, 2, 3")).toEqual(
      rowsOf(source, "select * from webhook_deliveries where next_attempt_at is null order by 1, 2, 3"),
    );
    const valuesOf = (rows: Record<string, unknown>[] = []) =>
      new Map(rows.map(({ name, value }) => [name, Number(value)]));
    const [values, valuesBefore] = both("select name, value from sequences").map(valuesOf);
    expect([...(values ?? [])].sort()).toEqual(
      [...new Map([["transcript_lines", 0], ...(valuesBefore ?? [])])]
        .map(([name, value]) => [name, Number(value) + SEQUENCE_LEAP])
        .sort(),
    );
    const withIds = rowsOf(source, "select name from sqlite_schema where sql like '%autoincrement%'");
    const [next = [], nextBefore = []] = both("select name, seq from sqlite_sequence");
    const before = new Map(nextBefore.map(({ name, seq }) => [name, Number(seq)]));
    expect(new Map(next.map(({ name, seq }) => [name, seq]))).toEqual(
      new Map(withIds.map(({ name }) => [name, (before.get(name) ?? 0) + SEQUENCE_LEAP])),
    );
    const [visits, visitsBefore = []] = both("select * from visits order by id");
    const leapOf = ({ status }: Record<string, unknown>) =>
      /planned|started/.test(String(status)) ? PARTICIPANT_LEAP : 0;
    expect(visits).toEqual(
      visitsBefore.map((each) => ({
        ...each,
        last_participant_id: Number(each.last_participant_id) + leapOf(each),
      })),
    );
    source.close();
    copy.close();
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
