/** Copies a D1 database into a temporary SQLite database, from the export of its rows: so no code has to parse SQL. */
import { closeSync, openSync, readSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StringDecoder } from "node:string_decoder";
import { columnsOf, keyColumns, tablesParentsFirst } from "./backup_statements.ts";
import type { Rows } from "./statement_runner.ts";

/** Excludes SQLite's and D1's own tables. */
export const SCHEMA = `SELECT type, name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND substr(name, 1, 7) <> 'sqlite_' AND substr(name, 1, 4) <> '_cf_'
  ORDER BY instr('table index view trigger', type), rowid`;

const SEQUENCES = "SELECT name, seq FROM sqlite_sequence";

/**
 * @param lines the export, with rows only. Each statement is one line, since the export escapes line breaks in texts.
 * @param query runs statements in the source database
 */
export async function copyOf(
  schema: Rows,
  lines: Iterable<string>,
  query: (statements: string[]) => Promise<Rows[]>,
): Promise<DatabaseSync> {
  // SQLite keeps a database without a name in a temporary file, and deletes it when the database is closed.
  const copy = new DatabaseSync("", { enableForeignKeyConstraints: false });
  for (const { type, sql } of schema) if (type === "table") copy.exec(String(sql));
  copy.exec("BEGIN");
  for (const line of lines) if (/^INSERT INTO (?!"?sqlite_)/.test(line)) copy.exec(line);
  const doubtful = doubtfulTexts(copy);
  const [sequences = [], ...exact] = await query([SEQUENCES, ...doubtful.map((each) => each.query)]);
  for (const [place, { table, column }] of doubtful.entries())
    correctTexts(copy, table, column, exact[place] ?? []);
  copy.exec("DELETE FROM sqlite_sequence");
  const insertSequence = copy.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)");
  for (const { name, seq } of sequences) insertSequence.run(name ?? null, seq ?? null);
  // Last, because triggers would log or refuse the statements above.
  for (const { type, sql } of schema) if (type !== "table") copy.exec(String(sql));
  copy.exec("COMMIT");
  return copy;
}

/** Splits only at LF. node:readline also splits at U+2028 and at a lone CR. */
export function* linesOfFile(file: string): Generator<string> {
  const descriptor = openSync(file, "r");
  const chunk = Buffer.alloc(1 << 20);
  const decoder = new StringDecoder("utf8");
  let line = "";
  while (true) {
    const size = readSync(descriptor, chunk);
    if (size === 0) break;
    const [first = "", ...others] = decoder.write(chunk.subarray(0, size)).split("\n");
    line += first;
    for (const next of others) {
      yield line;
      line = next;
    }
  }
  closeSync(descriptor);
  if (line) yield line;
}

/**
 * The export writes a line break as \n, so a text with both a line break and a literal \n comes back with two line breaks
 * (https://github.com/cloudflare/workers-sdk/issues/9042). A carriage return and \r have the same problem. The returned queries read the
 * exact texts from the source, only for columns that have line breaks at all.
 */
function doubtfulTexts(copy: DatabaseSync): { table: string; column: string; query: string }[] {
  return tablesParentsFirst(copy).flatMap((table) =>
    columnsOf(copy, table)
      .filter((column) =>
        copy
          .prepare(
            `SELECT 1 FROM "${table}" WHERE instr("${column}", char(10)) OR instr("${column}", char(13)) LIMIT 1`,
          )
          .get(),
      )
      .map((column) => ({
        table,
        column,
        query: `SELECT ${keyColumns(copy, table).map((key) => `"${key}"`)}, "${column}" AS exact FROM "${table}"
          WHERE typeof("${column}") = 'text' AND (instr("${column}", char(10)) AND instr("${column}", '\\n')
            OR instr("${column}", char(13)) AND instr("${column}", '\\r'))`,
      })),
  );
}

/** Replaces the texts that the export changed with the exact ones. Ignores rows that are newer than the export. */
function correctTexts(copy: DatabaseSync, table: string, column: string, rows: Rows) {
  const keys = keyColumns(copy, table);
  // A key may also have been changed by the export, and its columns may be corrected already: accept both values.
  const where = keys.map((key) => `"${key}" IN (?, ?)`).join(" AND ");
  const find = copy.prepare(`SELECT "${column}" AS text FROM "${table}" WHERE ${where}`);
  const correct = copy.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${where}`);
  for (const { exact, ...key } of rows) {
    const values = keys.flatMap((name) => {
      const value = key[name] ?? null;
      return [value, typeof value === "string" ? asExported(value) : value];
    });
    const exported = find.get(...values);
    if (!exported || exported.text === exact) continue;
    if (exported.text !== asExported(String(exact)))
      throw new Error(`A row of ${table} changed while the backup was made. Run the backup again.`);
    correct.run(exact ?? null, ...values);
  }
}

function asExported(text: string): string {
  const withReturns = text.includes("\r") ? text.replaceAll("\\r", "\r") : text;
  return text.includes("\n") ? withReturns.replaceAll("\\n", "\n") : withReturns;
}
