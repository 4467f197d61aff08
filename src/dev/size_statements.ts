/** Finds out from a database's schema how to estimate the bytes of its rows, in SQL. */
import { DatabaseSync } from "node:sqlite";
import { tablesParentsFirst } from "./backup_statements.ts";
import type { Rows } from "./statement_runner.ts";

/*
 * What SQLite stores beside the values: the lengths and types of the columns, the number of the row, and the row's place
 * in its page. (See "Database File Format" of SQLite.)
 */
const BYTES_OF_A_ROW = 8;
const BYTES_OF_A_COLUMN = 1;

/** In percent: pages are never quite full, those of an index less so, because its entries come in any order. */
const PAGES_OF_A_TABLE = 110;
const PAGES_OF_AN_INDEX = 125;

/**
 * Rows that one statement looks at, by the numbers that SQLite gives them. D1 runs one statement at a time, so a longer
 * one would hold up requests; and it stops one after 30 seconds.
 */
export const PORTION = 100_000;

/** What `pragma_table_xinfo` says of a column that is computed and not stored. */
const COMPUTED = 2;

interface Column {
  name: string;
  type: string;
  isStored: boolean;
}

export interface Table {
  name: string;
  columns: Column[];
  indexes: { columns: string[]; condition: string | undefined }[];
}

/** The tables of a schema. Those of SQLite and D1 themselves are not in it. */
export function tablesOf(schema: Rows): Table[] {
  const database = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  for (const { type, sql } of schema) if (type === "table" || type === "index") database.exec(String(sql));
  const tables = tablesParentsFirst(database).map((name) => ({
    name,
    // With those that are computed: not each of them is in the row, but some are in an index.
    columns: database
      .prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?)")
      .all(name)
      .map(({ name, type, hidden }) => ({
        name: String(name),
        type: String(type),
        isStored: hidden !== COMPUTED,
      })),
    indexes: database
      .prepare(
        `SELECT list.name, definition.sql FROM pragma_index_list(?) AS list
          LEFT JOIN sqlite_schema AS definition ON definition.name = list.name`,
      )
      .all(name)
      .map((index) => ({
        columns: database
          .prepare("SELECT name FROM pragma_index_info(?) WHERE name IS NOT NULL")
          .all(String(index.name))
          .map((column) => String(column.name)),
        condition: /\bWHERE\s([\s\S]+)$/i.exec(String(index.sql ?? ""))?.[1],
      })),
  }));
  database.close();
  return tables;
}

/** Where each portion of a table begins that has rows. Ids can be far apart: each begins at a row. */
export const portionsStatement = ({ name }: Table) =>
  `WITH RECURSIVE portions (first) AS (SELECT min(rowid) FROM "${name}" UNION ALL
    SELECT (SELECT min(rowid) FROM "${name}" WHERE rowid >= first + ${PORTION}) FROM portions WHERE first IS NOT NULL)
    SELECT first FROM portions WHERE first IS NOT NULL`;

/** The rows and bytes of each organization, in one portion of a table. What belongs to none comes with null. */
export function sizeStatement(table: Table, first: number): string {
  const { name, columns, indexes } = table;
  const portion = `WHERE rowid>=${first} AND rowid<${first + PORTION}`;
  const sizes = columns.map((column, n) => `${bytesOf(column)} AS s${n}`);
  const conditions = indexes.map(({ condition }, n) => `(${condition ?? 1}) AS i${n}`);
  const place = new Map(columns.map((column, n) => [column.name, `s${n}`]));
  const entry = (names: string[]) =>
    [BYTES_OF_A_ROW + names.length * BYTES_OF_A_COLUMN, ...names.map((column) => place.get(column))].join(
      "+",
    );
  const row = entry(columns.filter(({ isStored }) => isStored).map((column) => column.name));
  const entries = indexes.map((index, n) => `i${n}*(${entry(index.columns)})*${PAGES_OF_AN_INDEX}`);
  return `SELECT organization, count(*) AS row_count,
    sum((${row})*${PAGES_OF_A_TABLE}${entries.map((bytes) => `+${bytes}`).join("")})/100 AS bytes
    FROM (SELECT ${[`${ownerOf(table)} AS organization`, ...sizes, ...conditions].join(", ")} FROM "${name}"
    ${portion}) GROUP BY organization`;
}

function ownerOf({ name, columns }: Table): string {
  if (name === "organizations") return "id";
  return columns.some((column) => column.name === "organization_id") ? "organization_id" : "NULL";
}

/** SQLite stores an integer in as few bytes as it needs, and none for 0 and 1. */
function bytesOf({ name, type }: Column): string {
  const value = `"${name}"`;
  if (type.toUpperCase() === "REAL") return "8";
  if (type.toUpperCase() !== "INTEGER") return `ifnull(octet_length(${value}),0)`;
  return `iif(ifnull(${value},0) IN (0,1),0,iif(abs(${value})<32768,2,iif(abs(${value})<2147483648,4,6)))`;
}
