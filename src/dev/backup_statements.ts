/** Writes a database as SQL statements that an empty D1 database can load. */
import type { DatabaseSync } from "node:sqlite";

/** D1's limit for a statement. */
export const MAX_STATEMENT_BYTES = 100_000;

/** Leaves room for the column names, which are not counted. */
const MAX_ROWS_BYTES = 80_000;

/** D1 also limits the length of a statement's compiled program, which grows with its rows. */
const MAX_ROWS = 100;

/** The size of a part of a long value. Each byte is written as two hex digits. */
const PART_BYTES = 40_000;

type Cell = string | number | bigint | Uint8Array | null;
type Row = Record<string, Cell>;

export const END_OF_BACKUP = "-- End of the backup.";

/**
 * The whole database, in an order in which it can be loaded:
 *
 * 1. Tables and all indexes: a foreign key on (organization_id, id) needs the unique index of its parent.
 * 2. Rows, parents first. There are no triggers yet, which would count, log or refuse them.
 * 3. The highest ids so far, so that the id of a deleted row is never reused.
 * 4. `changes`: statements that change the rows before anyone sees them. The rows cannot be loaded without them.
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

const namesIn = (database: DatabaseSync, query: string, ...values: string[]): string[] =>
  database
    .prepare(query)
    .all(...values)
    .map(({ name }) => String(name));

export function tablesParentsFirst(database: DatabaseSync): string[] {
  const query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
  const tables = namesIn(database, query).filter((name) => !name.startsWith("sqlite_"));
  const parents = database.prepare('SELECT DISTINCT "table" AS parent FROM pragma_foreign_key_list(?)');
  const ordered = new Set<string>();
  const visited = new Set<string>();
  const visit = (table: string) => {
    if (visited.has(table)) return;
    visited.add(table);
    for (const { parent } of parents.all(table)) visit(String(parent));
    ordered.add(table);
  };
  tables.sort().forEach(visit);
  return [...ordered];
}

export const columnsOf = (database: DatabaseSync, table: string): string[] =>
  namesIn(database, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table);

/** The columns that identify a row: the primary key, or else SQLite's rowid. */
export function keyColumns(database: DatabaseSync, table: string): string[] {
  const columns = namesIn(database, "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", table);
  return columns.length > 0 ? columns : ["rowid"];
}

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

/** For a row that is too long for one statement: inserts it with empty values, then appends the values part by part. */
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
    // Parts are BLOBs, because a part may end within a character. The CAST turns the joined bytes into text again.
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

/** A value as SQL without control characters, so that each row is one line for every program that handles the file. */
export function literal(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell === "bigint") return String(cell);
  if (typeof cell === "number") return realLiteral(cell);
  if (typeof cell !== "string") return `X'${Buffer.from(cell).toString("hex")}'`;
  // wrangler removes the words BEGIN TRANSACTION from a file, or refuses the file, even if they are in a value.
  if (!/\p{Cc}|BEGIN TRANSACTION/u.test(cell)) return quoted(cell);
  const json = JSON.stringify(cell).replaceAll("BEGIN TRANSACTION", "BEGIN\\u0020TRANSACTION");
  return `(${quoted(json)} ->> '$')`;
}

/** Adds a decimal point where needed, so that SQLite does not read the number as an integer. */
function realLiteral(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
  return /[.e]/.test(String(value)) ? String(value) : `${value}.0`;
}
