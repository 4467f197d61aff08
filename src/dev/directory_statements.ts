/** What is read to compare the directory with the other databases, and what corrects it: plain SQL. */
import { getTableColumns, type Table } from "drizzle-orm";
import { type LocationKind, organizations, users } from "../database/schema.ts";
import { literal, MAX_ROWS_BYTES } from "./backup_statements.ts";
import type { Rows } from "./wrangler.ts";

/** A table that is read in portions. */
export interface Page {
  select: string;
  /** The columns of its order. */
  key: string[];
}

/** Rows that one query returns: about a megabyte. */
const PAGE_ROWS = 10_000;

/** Reads a table in portions, so that requests do not wait for it. */
export function* rowsOf(query: (statement: string) => Rows, { select, key }: Page, limit = PAGE_ROWS) {
  let after = "";
  while (true) {
    const rows = query(`${select} ${after} ORDER BY ${key} LIMIT ${limit}`);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    const values = key.map((column) => last[column] ?? null);
    after = `WHERE (${key}) > (${values.map((value) => (typeof value === "number" ? value : literal(value)))})`;
  }
}

export const LOCATIONS: Page = {
  select: "SELECT kind, key, organization_id, claimed_at FROM locations",
  key: ["kind", "key"],
};

/** The tables whose keys have one owner in the whole service. */
const TABLES: Record<LocationKind, { table: string; column: string }> = {
  call: { table: "calls", column: "key" },
  egress: { table: "egresses", column: "egress_id" },
  file: { table: "storage_keys", column: "storage_key" },
};

/** What a database holds, by the kind of the key. */
export const KEYS = Object.fromEntries(
  Object.entries(TABLES).map(([kind, { table, column }]) => [
    kind,
    { select: `SELECT rowid AS row_id, ${column} AS key, organization_id FROM ${table}`, key: ["row_id"] },
  ]),
) as Record<LocationKind, Page>;

const columnsOf = (table: Table): string[] =>
  Object.entries(getTableColumns(table)).flatMap(([name, { generated }]) => (generated ? [] : [name]));

const COLUMNS = { organizations: columnsOf(organizations), users: columnsOf(users) };

/** What must be unique beside the id. */
const NAMES = { organizations: "slug", users: "email" };

export type Copied = keyof typeof COLUMNS;

/** Rows that are in the directory too, as JSON. */
export const COPIES = Object.fromEntries(
  (["organizations", "users"] as const).map((table) => [
    table,
    {
      select: `SELECT id, ${NAMES[table]} AS name, json_object(${COLUMNS[table].map((name) => `'${name}', ${name}`)}) AS json FROM ${table}`,
      key: ["id"],
    },
  ]),
) as Record<Copied, Page>;

/** So many rows in a statement, if they are short. */
const ROWS = 100;

/** A statement for each portion of rows. `statement` says what to do with those of `json_each(…) AS item`. */
export function forRows(rows: object[], statement: (items: string) => string): string[] {
  const portions = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, n) =>
    rows.slice(n * ROWS, (n + 1) * ROWS),
  );
  return portions.flatMap(inLiterals).map((items) => statement(`json_each(${items}) AS item`));
}

/** Rows with long keys are more than D1 takes in a statement. How long a literal is, only the literal says. */
function inLiterals(rows: object[]): string[] {
  const items = literal(JSON.stringify(rows));
  if (rows.length === 1 || Buffer.byteLength(items) <= MAX_ROWS_BYTES) return [items];
  const half = Math.ceil(rows.length / 2);
  return [rows.slice(0, half), rows.slice(half)].flatMap(inLiterals);
}

const field = (name: string) => `item.value ->> '${name}'`;

/** OR IGNORE is also about what triggers insert: the outbox may still have the organization. */
export const insertCopies = (table: Copied) => (items: string) =>
  `INSERT OR IGNORE INTO ${table} (${COLUMNS[table]}) SELECT ${COLUMNS[table].map(field)} FROM ${items}`;

/** `known_at` is when the directory's row was changed last, as it was read: what has changed since is newer. */
export const updateOrganizations = (items: string) =>
  `UPDATE organizations SET ${COLUMNS.organizations.map((name) => `${name} = ${field(name)}`)} FROM ${items}
    WHERE organizations.id = ${field("id")} AND organizations.updated_at = ${field("known_at")}`;

/** The cron copies what is in the outbox. */
export const insertOutbox = (items: string) =>
  `INSERT INTO organization_outbox (organization_id, written_at) SELECT ${field("id")}, ${field("updated_at")} FROM ${items}
    WHERE true ON CONFLICT DO NOTHING`;

export const insertRanges = (items: string) =>
  `INSERT INTO shards (shard, range) SELECT ${field("shard")}, ${field("range")} FROM ${items} WHERE true ON CONFLICT DO NOTHING`;

/** Unless the first database has got the key meanwhile. */
export const insertLocations = (items: string) =>
  `INSERT INTO locations (kind, key, organization_id, claimed_at)
    SELECT ${field("kind")}, ${field("key")}, ${field("organization_id")}, ${field("claimed_at")} FROM ${items}
    WHERE EXISTS (SELECT 1 FROM organizations WHERE id = ${field("organization_id")}) ${Object.entries(TABLES)
      .map(
        ([kind, { table, column }]) =>
          `AND NOT (${field("kind")} = '${kind}' AND EXISTS (SELECT 1 FROM ${table} WHERE ${column} = ${field("key")}))`,
      )
      .join(" ")} ON CONFLICT DO NOTHING`;

/** True for a location as it was read. */
const IS_AS_READ = `locations.kind = ${field("kind")} AND locations.key = ${field("key")}
    AND locations.claimed_at = ${field("claimed_at")}`;

export const updateLocations = (items: string) =>
  `UPDATE locations SET organization_id = ${field("organization_id")} FROM ${items} WHERE ${IS_AS_READ}`;

export const deleteLocations = (items: string) =>
  `DELETE FROM locations WHERE EXISTS (SELECT 1 FROM ${items} WHERE ${IS_AS_READ})`;
