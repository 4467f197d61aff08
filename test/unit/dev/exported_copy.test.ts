import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyOf, linesOfFile } from "../../../src/dev/exported_copy.ts";
import type { Rows } from "../../../src/dev/statement_runner.ts";

const SCHEMA = [
  { type: "table", sql: "create table notes (id integer primary key autoincrement, author text, text text)" },
  { type: "trigger", sql: "create trigger no after insert on notes begin select raise(abort, 'no'); end" },
  {
    type: "trigger",
    sql: "create trigger never after update on notes begin select raise(abort, 'never'); end",
  },
];

/** The lines are in D1's export format, which corrupts the text of the first row. */
async function aCopy(exactTexts: Rows) {
  const queries: string[] = [];
  const copy = await copyOf(
    SCHEMA,
    [
      "PRAGMA defer_foreign_keys=TRUE;",
      `INSERT INTO "notes" ("id","author","text") VALUES(1,'Ann',replace('a\\nC:\\new','\\n',char(10)));`,
      `INSERT INTO "notes" ("id","author","text") VALUES(2,'Bob','C:\\new');`,
      `INSERT INTO "sqlite_sequence" ("name","seq") VALUES('notes',2);`,
    ],
    async (statements) => {
      queries.push(...statements);
      return [[{ name: "notes", seq: 9 }], exactTexts];
    },
  );
  return { copy, queries };
}

describe("copyOf", () => {
  it("restores the texts that the export changed, and adds no newer rows", async () => {
    const { copy } = await aCopy([
      { id: 1, exact: "a\nC:\\new" },
      { id: 3, exact: "b\n\\n" },
    ]);
    const texts = copy.prepare("select text from notes order by id").all();
    expect(texts).toEqual([{ text: "a\nC:\\new" }, { text: "C:\\new" }]);
  });

  it("queries the source only for texts with line breaks", async () => {
    const { queries } = await aCopy([]);
    expect(queries).toEqual([
      expect.stringContaining("sqlite_sequence"),
      expect.stringContaining('"text" AS exact'),
    ]);
  });

  it("fails if a text changed after the export", async () => {
    await expect(aCopy([{ id: 1, exact: "later:\nC:\\new" }])).rejects.toThrow(
      "A row of notes changed while the backup was made. Run the backup again.",
    );
  });

  it("has the triggers and the next ids", async () => {
    const { copy } = await aCopy([]);
    expect(copy.prepare("select name, seq from sqlite_sequence").all()).toEqual([{ name: "notes", seq: 9 }]);
    expect(() => copy.exec("insert into notes values (3, '', '')")).toThrow("no");
  });
});

it("linesOfFile splits only at line feeds, and joins characters that are cut between chunks", () => {
  const folder = mkdtempSync(join(tmpdir(), "lines-"));
  const lines = ["a\u2028b\rc", "é".repeat(1_500_000), `x${"👩".repeat(600_000)}`, "", "end"];
  writeFileSync(join(folder, "lines"), lines.join("\n"));
  expect([...linesOfFile(join(folder, "lines"))]).toEqual(lines);
  rmSync(folder, { recursive: true });
});
