/** Writes a database as SQL that an empty D1 database can load. */
import type { DatabaseSync } from "node:sqlite";

/** D1 takes no statement of more than 100,000 bytes. */
export const MAX_STATEMENT_BYTES = 100_000;

/** Leaves room for the names of the columns, which are not counted. */
const MAX_ROWS_BYTES = 80_000;

/** A statement of many rows is a long program for SQLite, which D1 limits too. */
const MAX_ROWS = 100;

/** Of a long value: two characters are written for each. */
const PART_BYTES = 40_000;

type Cell = string | number | bigint | Uint8Array | null;
type Row = Record<string, Cell>;

/** The last line of a complete backup. */
export const END_OF_BACKUP = "-- End of the backup.";

/**
 * All that a database holds, in an order in which it can be loaded:
 *
 * 1. Tables, and with them all indexes: a foreign key on (organization_id, id) wants the unique index of its parent.
 * 2. Rows, parents first. No trigger is there yet that would count them again, log them, or refuse them.
 * 3. The highest ids so far, so that the id of a deleted row does not come back.
 * 4. What changes the rows before anybody sees them: it is part of the file, so that nobody can load the rows without it.
 * 5. Views, and then triggers, which may be on views.
 */
export function* backupStatements(database: DatabaseSync, changes: string[] = []): Generator<string> {
  yield "PRAGMA defer_foreign_keys = TRUE;";
  yield* definitions(database, "table");
  yield* definitions(database, "index");
  for (const table of tablesParentsFirst(database)) yield* insertStatements(database, table);
  yield "DELETE FROM sqlite_sequence;";
  yield* insertStatements(database, "sqlite_sequence");
  for (const change of changes) yield `${change};`;
  yield* definitions(database, "view");
  yield* definitions(database, "trigger");
  yield END_OF_BACKUP;
}

const definitions = (database: DatabaseSync, type: string): string[] =>
  database
    .prepare(
      "SELECT sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )
    .all(type)
    .map(({ sql }) => `${sql};`);

export function tablesParentsFirst(database: DatabaseSync): string[] {
  const tables = database
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith("sqlite_"))
    .sort();
  const parents = database.prepare('SELECT DISTINCT "table" AS parent FROM pragma_foreign_key_list(?)');
  const ordered = new Set<string>();
  const visited = new Set<string>();
  const visit = (table: string) => {
    if (visited.has(table)) return;
    visited.add(table);
    for (const { parent } of parents.all(table)) visit(String(parent));
    ordered.add(table);
  };
  tables.forEach(visit);
  return [...ordered];
}

export const columnsOf = (database: DatabaseSync, table: string): string[] =>
  database
    .prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid")
    .all(table)
    .map(({ name }) => String(name));

/** The columns that identify a row. A table without a primary key has only SQLite's own number of the row. */
export function keyColumns(database: DatabaseSync, table: string): string[] {
  const columns = database
    .prepare("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk")
    .all(table)
    .map(({ name }) => String(name));
  return columns.length > 0 ? columns : ["rowid"];
}

/** As many rows in a statement as fit. */
function* insertStatements(database: DatabaseSync, table: string): Generator<string> {
  const columns = columnsOf(database, table);
  const into = `INSERT INTO ${name(table)} (${columns.map(name)}) VALUES`;
  const rows = database.prepare(`SELECT rowid, * FROM ${name(table)} ORDER BY rowid`);
  rows.setReadBigInts(true);
  let values: string[] = [];
  let bytes = 0;
  for (const row of rows.iterate() as Iterable<Row>) {
    const { value, rest } = rowInParts(row, columns, keyColumns(database, table));
    const size = Buffer.byteLength(value);
    if (values.length === MAX_ROWS || bytes + size > MAX_ROWS_BYTES) {
      if (values.length > 0) yield `${into}\n${values.join(",\n")};`;
      [values, bytes] = [[], 0];
    }
    values.push(value);
    bytes += size + 2;
    if (rest.length === 0) continue;
    yield `${into}\n${values.join(",\n")};`;
    [values, bytes] = [[], 0];
    for (const change of rest) yield `UPDATE ${name(table)} SET ${change};`;
  }
  if (values.length > 0) yield `${into}\n${values.join(",\n")};`;
}

/** A row too long for one statement goes in with empty values, and each of these grows by parts. */
function rowInParts(row: Row, columns: string[], keys: string[]): { value: string; rest: string[] } {
  const literals = columns.map((column) => literal(row[column] ?? null));
  if (Buffer.byteLength(literals.join()) <= MAX_ROWS_BYTES) return { value: `(${literals})`, rest: [] };
  const where = keys.map((key) => `${name(key)} = ${literal(row[key] ?? null)}`).join(" AND ");
  const rest: string[] = [];
  for (const [place, column] of columns.entries()) {
    const cell = row[column];
    const isText = typeof cell === "string";
    const bytes = isText ? Buffer.from(cell) : cell;
    const long = Buffer.byteLength(literals[place] ?? "") > MAX_ROWS_BYTES / columns.length;
    if (!long || keys.includes(column) || !(bytes instanceof Uint8Array)) continue;
    literals[place] = isText ? "''" : "X''";
    // Bytes, so that no part ends within a character. SQLite makes a text of what it joins.
    for (let start = 0; start < bytes.length; start += PART_BYTES) {
      const part = literal(bytes.subarray(start, start + PART_BYTES));
      rest.push(
        `${name(column)} = CAST(${name(column)} || ${part} AS ${isText ? "TEXT" : "BLOB"}) WHERE ${where}`,
      );
    }
  }
  return { value: `(${literals})`, rest };
}

const name = (text: string) => `"${text.replaceAll('"', '""')}"`;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A value as SQL without control characters, so that each row is one line whatever handles the file. */
export function literal(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell === "bigint") return String(cell);
  if (typeof cell === "number") return realLiteral(cell);
  if (typeof cell !== "string") return `X'${Buffer.from(cell).toString("hex")}'`;
  // wrangler deletes these words from a file, or refuses it, even if they are in a value.
  if (!/\p{Cc}|BEGIN TRANSACTION/u.test(cell)) return quoted(cell);
  const json = JSON.stringify(cell).replaceAll("BEGIN TRANSACTION", "BEGIN\\u0020TRANSACTION");
  return `(${quoted(json)} ->> '$')`;
}

/** With a point or an exponent, without which SQLite would take it for an integer. */
function realLiteral(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
  return /[.e]/.test(String(value)) ? String(value) : `${value}.0`;
}
