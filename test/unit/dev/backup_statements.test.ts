import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { backupStatements, literal, MAX_STATEMENT_BYTES } from "../../../src/dev/backup_statements.ts";
import { ALL_BYTES, AWKWARD_TEXTS, LONG_TEXT } from "../../project/support/every_table.ts";

/** The child table is created, and sorts, before its parent. Its foreign key needs an index that is created last. */
const SCHEMA = `
  create table children (id integer primary key autoincrement, clinic integer, parent integer, text text, data blob,
    foreign key (clinic, parent) references parents (clinic, id));
  create table parents (id integer primary key, clinic integer, score real);
  create table keyless (a, b);
  create table totals (name text primary key, total integer);
  insert into totals values ('children', 0);
  create view changes as select null as sign;
  create trigger change instead of insert on changes begin update totals set total = total + new.sign; end;
  create trigger counted after insert on children begin insert into changes values (1); end;
  create trigger unchanged before update on children begin select raise(abort, 'children never change'); end;
  create unique index parents_by_clinic on parents (clinic, id);
`;

function aDatabase() {
  const database = new DatabaseSync(":memory:");
  database.exec(`pragma foreign_keys = off; ${SCHEMA}`);
  const add = (text: string | null, data: Uint8Array | null = null, id: number | null = null) =>
    database.prepare("insert into children values (?, 1, 7, ?, ?)").run(id, text, data);
  database.exec("insert into parents values (7, 1, 2.0), (8, 1, 0.1), (9, 2, 1e300), (10, 2, -9e999)");
  return { database, add };
}

/** Restores as D1 does: with foreign keys, and with D1's limit on the size of a statement. */
function restored(statements: string[]) {
  const database = new DatabaseSync(":memory:");
  database.exec("begin");
  for (const statement of statements) {
    expect(Buffer.byteLength(statement)).toBeLessThanOrEqual(MAX_STATEMENT_BYTES);
    database.exec(statement);
  }
  database.exec("commit");
  expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
  return database;
}

const everything = (database: DatabaseSync) => [
  database.prepare("select type, name, tbl_name, sql from sqlite_schema order by name").all(),
  ...["children", "parents", "keyless", "totals", "sqlite_sequence"].map((table) =>
    database.prepare(`select * from ${table} order by rowid`).all(),
  ),
];

describe("backupStatements", () => {
  it("restores rows whose parents are created later, without firing triggers", () => {
    const { database, add } = aDatabase();
    for (const text of AWKWARD_TEXTS) add(text, ALL_BYTES);
    add(null);
    add("gone", null, 99);
    database.exec("delete from children where id = 99");
    const copy = restored([...backupStatements(database)]);
    expect(everything(copy)).toEqual(everything(database));
    expect(() => copy.exec("update children set text = ''")).toThrow("children never change");
    copy.exec("insert into children (clinic, parent) values (1, 7)");
    expect(copy.prepare("select max(id) as id, total from children, totals").get()).toEqual({
      id: 100,
      total: AWKWARD_TEXTS.length + 3,
    });
  });

  it("keeps every statement below D1's limit, however large the rows are", () => {
    const { database, add } = aDatabase();
    const megabyte = new Uint8Array(1_000_000).map((_, place) => (place * 7) % 256);
    add("short");
    add(LONG_TEXT, megabyte);
    add("\u0001".repeat(200_000));
    add(`x${"👩".repeat(100_000)}`);
    add("short again");
    database.prepare("insert into keyless values (?, 1), ('', 2), (?, 3)").run(LONG_TEXT, LONG_TEXT);
    for (let n = 0; n < 5000; n++) add("x".repeat(n % 300));
    expect(everything(restored([...backupStatements(database)]))).toEqual(everything(database));
  });

  it("writes each row on one line, with nothing that wrangler alters", () => {
    const { database, add } = aDatabase();
    for (const text of [...AWKWARD_TEXTS, LONG_TEXT]) add(text);
    const rows = [...backupStatements(database)].filter((each) => /^(INSERT|UPDATE)/.test(each)).join("\n");
    expect(rows).not.toContain("BEGIN TRANSACTION");
    expect(rows).not.toMatch(/[^\P{Cc}\n\u007f-\u009f]/u);
  });
});

it.each([
  [null, "NULL"],
  [12n, "12"],
  [2, "2.0"],
  [1e21, "1e+21"],
  [Number.NEGATIVE_INFINITY, "-9e999"],
  ["it's", "'it''s'"],
  ["a\nb", `('"a\\nb"' ->> '$')`],
  [Uint8Array.of(0, 255), "X'00ff'"],
])("literal writes %s as %s", (value, sql) => {
  expect(literal(value)).toBe(sql);
});
