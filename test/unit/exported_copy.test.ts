import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyOf, correctTexts, doubtfulTexts, linesOf } from "../../src/dev/exported_copy.ts";

const SCHEMA = [
  { type: "table", sql: "create table notes (id integer primary key autoincrement, author text, text text)" },
  { type: "trigger", sql: "create trigger no after insert on notes begin select raise(abort, 'no'); end" },
];

/** As D1 exports it. */
const aCopy = () =>
  copyOf(
    SCHEMA,
    [
      "PRAGMA defer_foreign_keys=TRUE;",
      `INSERT INTO "notes" ("id","author","text") VALUES(1,'Ann',replace('a\\nC:\\new','\\n',char(10)));`,
      `INSERT INTO "notes" ("id","author","text") VALUES(2,'Bob','C:\\new');`,
      `INSERT INTO "sqlite_sequence" ("name","seq") VALUES('notes',2);`,
    ],
    [{ name: "notes", seq: 9 }],
  );

const textsOf = (copy: ReturnType<typeof aCopy>) =>
  copy
    .prepare("select text from notes order by id")
    .all()
    .map(({ text }) => text);

describe("A copy of an exported database", () => {
  it("has its rows, its triggers and its next ids", () => {
    const copy = aCopy();
    expect(textsOf(copy)).toEqual(["a\nC:\new", "C:\\new"]);
    expect(copy.prepare("select name, seq from sqlite_sequence").all()).toEqual([{ name: "notes", seq: 9 }]);
    expect(() => copy.exec("insert into notes values (3, '', '')")).toThrow("no");
  });

  it("asks the source for texts that the export may have changed, and for no others", () => {
    const copy = aCopy();
    expect(doubtfulTexts(copy)).toMatchObject([{ table: "notes", column: "text" }]);
    // A newer row is not in the export.
    correctTexts(copy, "notes", "text", [
      { id: 1, exact: "a\nC:\\new" },
      { id: 3, exact: "b\n\\n" },
    ]);
    expect(textsOf(copy)).toEqual(["a\nC:\\new", "C:\\new"]);
  });

  it("accepts no text that was written after the export", () => {
    expect(() => correctTexts(aCopy(), "notes", "text", [{ id: 1, exact: "later:\nC:\\new" }])).toThrow(
      "A row of notes changed while the backup was made. Run the backup again.",
    );
  });
});

it("The lines of a file end at line feeds only, and pieces of characters are put together", () => {
  const folder = mkdtempSync(join(tmpdir(), "lines-"));
  const lines = ["a\u2028b\rc", "é".repeat(1_500_000), `x${"👩".repeat(600_000)}`, "", "end"];
  writeFileSync(join(folder, "lines"), lines.join("\n"));
  expect([...linesOf(join(folder, "lines"))]).toEqual(lines);
  rmSync(folder, { recursive: true });
});
