import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SEQUENCE_LEAP } from "../../src/dev/quiet_statements.ts";
import { runWrangler } from "../../src/dev/wrangler.ts";
import { ALL_BYTES, LONG_TEXT, writeRowsInEveryTable } from "../project/support/every_table.ts";
import { npmRun } from "./support/server.ts";

const folder = mkdtempSync(join(tmpdir(), "backup-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const path = (name: string) => join(folder, name);

const migrate = (state: string) =>
  runWrangler(["d1", "migrations", "apply", "DB", "--local", "--persist-to", path(state)]);

/** The file in which wrangler keeps the local database. */
function openDatabase(state: string): DatabaseSync {
  const databases = path(`${state}/v3/d1/miniflare-D1DatabaseObject`);
  const [file = ""] = readdirSync(databases).filter((each) => /^[0-9a-f]{64}\.sqlite$/.test(each));
  return new DatabaseSync(join(databases, file));
}

/** Definitions, and rows by the name of their table: the next ids are the rows of sqlite_sequence. */
function everythingIn(state: string) {
  const database = openDatabase(state);
  const schema = database
    .prepare(
      "select type, name, tbl_name, sql from sqlite_schema where name not like '\\_cf%' escape '\\' order by name",
    )
    .all();
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
  const rows = Object.fromEntries(
    tables.map((table) => [
      table,
      database
        .prepare(`select * from "${table}"`)
        .all()
        .map((row) => JSON.stringify(Object.values(row)))
        .sort(),
    ]),
  );
  expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
  database.close();
  return { schema, rows };
}

const restore = (input: string, state: string) =>
  npmRun("restore", "--", "--input", path(input), "--persist-to", path(state));

/** What makes the copy quiet. */
const CHANGED_BY_A_RESTORE = [
  "database_settings",
  "webhook_endpoints",
  "webhook_deliveries",
  "sequences",
  "sqlite_sequence",
];

let restored: Awaited<ReturnType<typeof restore>>;

const backUp = () => npmRun("backup", "--", "--output", path("backup.sql"), "--persist-to", path("source"));

beforeAll(async () => {
  migrate("source");
  const source = openDatabase("source");
  writeRowsInEveryTable(source);
  // No table has a blob yet.
  source.exec("create table documents (id integer primary key, content blob not null)");
  const long = new Uint8Array(400_000).map((_, place) => (place * 7) % 256);
  source.prepare("insert into documents (content) values (?), (?)").run(ALL_BYTES, long);
  source.close();
  const { code, output } = await backUp();
  expect(output).toContain("contains health data");
  expect(code).toBe(0);
  restored = await restore("backup.sql", "restored");
});

describe("A backup", () => {
  it("restores every row, table, index, trigger and view into an empty database", () => {
    expect(restored.output).toContain("Restored. Every foreign key has its row.");
    expect(restored.code).toBe(0);
    const source = everythingIn("source");
    const empty = Object.keys(source.rows).filter((table) => source.rows[table]?.length === 0);
    expect(empty, "Only write_conflicts has no rows: every_table.ts must fill the others.").toEqual([
      "write_conflicts",
    ]);
    expect(source.rows.soap_notes?.some((row) => row.includes(JSON.stringify(LONG_TEXT)))).toBe(true);
    const copy = everythingIn("restored");
    expect(copy.schema).toEqual(source.schema);
    const others = Object.entries(source.rows).filter(([table]) => !CHANGED_BY_A_RESTORE.includes(table));
    for (const [table, rows] of others) expect(copy.rows[table], table).toEqual(rows);
  });

  it("makes the database that is restored from it quiet, whoever loads the file", () => {
    const [source, copy] = [openDatabase("source"), openDatabase("restored")];
    const rowsOf = (database: DatabaseSync, query: string) => database.prepare(query).all();
    const both = (query: string) => [rowsOf(copy, query), rowsOf(source, query)];
    expect(rowsOf(copy, "select value from database_settings where name = 'quiet'")).toEqual([
      { value: expect.any(Number) },
    ]);
    const [endpoints = [], were = []] = both("select * from webhook_endpoints order by id");
    expect(were.filter(({ is_active }) => is_active).length).toBeGreaterThan(0);
    expect(endpoints).toEqual(
      were.map((each) => ({
        ...each,
        ...(each.is_active && { disabled_reason: "restored", updated_at: expect.any(Number) }),
        is_active: 0,
        due_at: null,
        lease_until: null,
        message_at: null,
      })),
    );
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
    source.close();
    copy.close();
  });

  it("is followed by the next migrations", () => {
    expect(migrate("restored")).toContain("No migrations to apply");
  });

  it("restores triggers that work", () => {
    const database = openDatabase("restored");
    expect(() => database.exec("delete from egress_audit_logs")).toThrow("never deleted");
    expect(() => database.exec("update access_logs set at = 0")).toThrow("never changed");
    expect(() => database.exec("insert into write_conflicts values ('because')")).toThrow("because");
    database.close();
  });

  it.skipIf(process.platform === "win32")("can be read only by its owner", () => {
    expect(statSync(path("backup.sql")).mode & 0o777).toBe(0o600);
  });

  it("does not overwrite an older one", async () => {
    const { code, output } = await backUp();
    expect(output).toContain("an older backup is not overwritten");
    expect(code).toBe(1);
  });
});

describe("A restore", () => {
  it("refuses a database that has tables, and changes nothing in it", async () => {
    const before = everythingIn("restored");
    const { code, output } = await restore("backup.sql", "restored");
    expect(output).toContain("The database is not empty");
    expect(code).toBe(1);
    expect(everythingIn("restored")).toEqual(before);
  });

  it("refuses a file that was cut off", async () => {
    writeFileSync(path("half.sql"), readFileSync(path("backup.sql")).subarray(0, -100));
    const { code, output } = await restore("half.sql", "never");
    expect(output).toContain("is not a complete file");
    expect(code).toBe(1);
    expect(readdirSync(folder)).not.toContain("never");
  });
});
