import { describe, expect, it } from "vitest";
import "../../src/index.ts";
import { statements } from "../../src/database/queries.ts";
import { migratedDatabase } from "../../src/dev/migrations.ts";
import { partsOf } from "../../src/dev/writes_page.ts";

/* SQLite prepares every statement that the code declares, whether or not another test runs it. */

const database = migratedDatabase();

// An INSERT into a parent would show a scan of its children, which SQLite skips unless a violation is pending.
database.exec("pragma foreign_keys = off");

/** Names in a plan that SQLite may scan, with the reason why each scan is bounded. */
const BOUNDED: Record<string, string> = {
  access_logs: "a subquery of this name, which looks through a bounded number of entries",
  places: "read in the order of its ids, up to a LIMIT",
  moves: "a row for each organization that an operator has moved away",
  sqlite_sequence: "a row for each table",
};

const texts = [...new Set(statements.flatMap((declared) => declared().map(({ text }) => text)))];

const rowsOf = <Row>(sql: string) => database.prepare(sql).all() as Row[];

const tables = new Set(
  rowsOf<{ name: string }>("select name from sqlite_schema where type = 'table'").map(({ name }) => name),
);

const TEXT_OR_NAME = /'(?:[^']|'')*'|"([^"]*)"/g;

/** SQLite's error for the statement, if any. In double quotes, SQLite reads a misspelt name as text. */
function complaint(text: string): string | undefined {
  const inBackticks = text.replace(TEXT_OR_NAME, (all, name?: string) => (name ? `\`${name}\`` : all));
  try {
    database.prepare(inBackticks);
  } catch (error) {
    return `${error}\nin ${text}`;
  }
}

describe("A statement", () => {
  it("names only tables and columns that exist", () => {
    expect(texts.length).toBeGreaterThan(300);
    expect(texts.map(complaint).filter((each) => each !== undefined)).toEqual([]);
    expect(complaint(`select "name" from "organizations" where "slugg" = 'The "slug"'`)).toMatch(
      /no such column: slugg/,
    );
  });

  it("that reads a page is ordered by id last, so that each item is on one page", () => {
    const pages = texts.filter((text) => /\boffset\b/i.test(text));
    expect(pages.length).toBeGreaterThanOrEqual(5);
    const endsWithId =
      /order by (?:(?!order by|limit).)*"(?:call_|visit_)?id"(?: asc| desc)? limit \? offset \?/is;
    expect(pages.filter((text) => !endsWithId.test(text))).toEqual([]);
  });

  it("scans no table that grows", () => {
    expect(texts.flatMap((text) => scansIn(text))).toEqual([]);
  });

  it("that scans a table is found by the table's name or its alias", () => {
    expect(scansIn("select * from consents where reported_at = ?")).toHaveLength(1);
    expect(scansIn("select 1 from calls as own where own.key = ?")).toHaveLength(1);
    const correlated =
      "select id from participants where call_id = egresses.call_id and left_at < egresses.ended_at";
    expect(scansIn(`select * from egresses where call_id = (${correlated})`)).toHaveLength(1);
  });
});

describe("A trigger", () => {
  const triggers = rowsOf<{ name: string; sql: string }>(
    "select name, sql from sqlite_schema where type = 'trigger'",
  );

  it("scans no table that grows", () => {
    const all = triggers.flatMap(({ name, sql }) => statementsOf(sql).map((text) => ({ name, text })));
    expect(all.length).toBeGreaterThan(triggers.length);
    expect(all.flatMap(({ name, text }) => scansIn(text).map((scan) => `${name}: ${scan}`))).toEqual([]);
  });

  it("has no name in double quotes, and neither does a view, an index or a table", () => {
    const quoted = "select name from sqlite_schema where name not glob 'd1_*' and sql glob '*\"*'";
    expect(rowsOf(quoted)).toEqual([]);
  });
});

describe("A foreign key", () => {
  it("has an index on its columns if rows of its parent are deleted", () => {
    const keys = foreignKeys();
    const deleted = new Set(
      [
        ...texts,
        ...rowsOf<{ sql: string }>("select sql from sqlite_schema where type = 'trigger'").map(
          ({ sql }) => sql,
        ),
      ]
        .flatMap((text) => [...text.matchAll(/\bdelete from [`"]?(\w+)/gi)])
        .map(([, table]) => table as string),
    );
    // The set grows during the loop, because a table whose rows a cascade deletes may be a parent too.
    for (const parent of deleted)
      for (const key of keys)
        if (key.parent === parent && key.on_delete === "CASCADE") deleted.add(key.child);
    const lookUps = keys
      .filter(({ parent }) => deleted.has(parent))
      .map(
        ({ child, columns }) =>
          `select 1 from ${child} where ${columns.map((each) => `${each} = ?`).join(" and ")}`,
      );
    expect(lookUps.length).toBeGreaterThan(0);
    expect(lookUps.flatMap((text) => scansIn(text))).toEqual([]);
  });
});

function scansIn(text: string): string[] {
  const plan = rowsOf<{ detail: string }>(`explain query plan ${text}`);
  return plan.flatMap(({ detail }) => {
    const [, name] = /^SCAN (\w+)(?! VIRTUAL TABLE)/.exec(detail) ?? [];
    return name && !(name in BOUNDED) && isTable(name, text) ? [`${detail}\n    ${text}`] : [];
  });
}

/** Whether a name in a plan is a table or its alias. Other names are subqueries, whose plans are listed too. */
function isTable(name: string, text: string): boolean {
  const aliased = text.matchAll(new RegExp(`["\`]?(\\w+)["\`]? (?:as )?["\`]?${name}\\b`, "gi"));
  return tables.has(name) || [...aliased].some(([, table = ""]) => tables.has(table));
}

/** The condition and the statements of a trigger, with parameters for the columns of its row. */
function statementsOf(sql: string): string[] {
  const text = sql
    .replace(/\braise\s*\(\s*abort\s*,\s*(?:'(?:[^']|'')*'|new\.reason|iif\([^()]*\))\s*\)/gi, "null")
    .replace(/\b(?:new|old)\.\w+/gi, "?");
  const { when, statements } = partsOf(text);
  return when ? [`select 1 where ${when}`, ...statements] : statements;
}

interface ForeignKey {
  child: string;
  parent: string;
  columns: string[];
  on_delete: string;
}

function foreignKeys(): ForeignKey[] {
  const columns = rowsOf<{ child: string; id: number; parent: string; name: string; on_delete: string }>(
    `select child.name as child, key.id, key."table" as parent, key."from" as name, key.on_delete
     from sqlite_schema as child, pragma_foreign_key_list(child.name) as key where child.type = 'table'`,
  );
  return [...Map.groupBy(columns, ({ child, id }) => `${child} ${id}`).values()].map((key) => ({
    ...(key[0] as (typeof key)[number]),
    columns: key.map(({ name }) => name),
  }));
}
