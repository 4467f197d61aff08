/** Compares what the directory knows with what the databases hold. Millions of keys do not fit into memory, so SQLite does it. */
import { DatabaseSync } from "node:sqlite";
import { CLAIM_KEPT_FOR } from "../limits.ts";
import { conflictsIn, LIVES_IN, unreadIn } from "./directory_conflicts.ts";
import {
  type Copied,
  deleteLocations,
  forRows,
  insertCopies,
  insertLocations,
  insertOutbox,
  insertRanges,
  updateLocations,
  updateOrganizations,
} from "./directory_statements.ts";
import type { Rows } from "./wrangler.ts";

type Row = Rows[number];

/*
 * `held` has the keys of all databases. `copies` has their organizations and users: those of shard 0 are the originals. The
 * name of a copy is what must be unique beside its id: a slug, or an email.
 */
const TABLES = `
CREATE TABLE known_keys (kind TEXT, key TEXT, organization_id INTEGER, claimed_at INTEGER, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE held (kind TEXT, key TEXT, organization_id INTEGER, shard INTEGER, row_id INTEGER, PRIMARY KEY (kind, key, shard)) WITHOUT ROWID;
CREATE TABLE copies (what TEXT, id INTEGER, shard INTEGER, name TEXT, json TEXT, PRIMARY KEY (what, id, shard)) WITHOUT ROWID;
CREATE INDEX copies_by_name ON copies (what, name);
CREATE TABLE known_ranges (shard INTEGER PRIMARY KEY, range INTEGER);
CREATE TABLE held_ranges (shard INTEGER PRIMARY KEY, range INTEGER);
CREATE VIEW contested AS SELECT kind, key FROM held GROUP BY kind, key HAVING count(*) > 1;
CREATE VIEW held_alone AS SELECT * FROM held WHERE shard > 0
  AND NOT EXISTS (SELECT 1 FROM held AS other WHERE other.kind = held.kind AND other.key = held.key AND other.shard <> held.shard);
CREATE VIEW originals AS SELECT what, id, name, json FROM copies WHERE shard = 0;
BEGIN`;

export function openComparison(now: number) {
  // SQLite keeps a database without a name in a file that it deletes when the database is closed.
  const database = new DatabaseSync("");
  database.exec(TABLES);
  const key = database.prepare("INSERT INTO known_keys VALUES (?, ?, ?, ?)");
  const knownRange = database.prepare("INSERT INTO known_ranges VALUES (?, ?)");
  const heldRange = database.prepare("INSERT INTO held_ranges VALUES (?, ?)");
  const copy = database.prepare("INSERT INTO copies VALUES (?, ?, ?, ?, ?)");
  const held = database.prepare("INSERT INTO held VALUES (?, ?, ?, ?, ?)");
  const value = (row: Row, name: string) => row[name] ?? null;
  return {
    addKnown(what: "range" | "key", row: Row) {
      if (what === "range") knownRange.run(value(row, "shard"), value(row, "range"));
      else key.run(...["kind", "key", "organization_id", "claimed_at"].map((name) => value(row, name)));
    },
    addHeld(shard: number, what: string, row: Row) {
      if (what === "range") heldRange.run(shard, value(row, "range"));
      else if ("json" in row) copy.run(what, value(row, "id"), shard, value(row, "name"), value(row, "json"));
      else held.run(what, value(row, "key"), value(row, "organization_id"), shard, value(row, "row_id"));
    },
    result() {
      const unread = unreadIn(database);
      // What such a database holds would count as gone.
      if (unread.length > 0) return { unread, statements: [], changes: [], conflicts: [] };
      const changes = changesIn(database, now).filter(({ rows }) => rows.length > 0);
      return {
        unread,
        statements: changes.flatMap(({ rows, statement }) => forRows(rows, statement)),
        changes: changes.map(({ rows, what }) => `${what}: ${rows.length}`),
        conflicts: conflictsIn(database),
      };
    },
  };
}

interface Change {
  what: string;
  rows: object[];
  statement: (items: string) => string;
}

/** In an order in which they can be written: parents come first. */
function changesIn(database: DatabaseSync, now: number): Change[] {
  const all = (sql: string) => database.prepare(sql).all();
  const parsed = (sql: string) => all(sql).map(({ json }) => JSON.parse(String(json)));
  /** What contradicts a row of the directory is a conflict. */
  const missing = (what: Copied, condition = "true") =>
    parsed(`SELECT json FROM copies WHERE what = '${what}' AND shard > 0 AND ${condition}
      AND NOT EXISTS (SELECT 1 FROM originals WHERE what = '${what}' AND id = copies.id)
      AND NOT EXISTS (SELECT 1 FROM originals WHERE what = '${what}' AND name = copies.name) GROUP BY id`);
  const newOrganizations = missing("organizations", `shard = ${LIVES_IN} AND name <> 'taken-back-' || id`);
  const organizations = new Set(
    [...all("SELECT id FROM originals WHERE what = 'organizations'"), ...newOrganizations].map(
      ({ id }) => id,
    ),
  );
  const ofKnown = (rows: { organization_id?: unknown }[]) =>
    rows.filter(({ organization_id }) => organizations.has(organization_id));
  return [
    {
      what: "ranges added",
      rows: all(`SELECT shard, range FROM held_ranges AS held WHERE shard NOT IN (SELECT shard FROM known_ranges)
        AND range NOT IN (SELECT range FROM known_ranges)`),
      statement: insertRanges,
    },
    {
      what: "organizations added",
      rows: newOrganizations,
      statement: insertCopies("organizations"),
    },
    {
      what: "organizations corrected",
      rows: parsed(`SELECT json_set(copies.json, '$.known_at', originals.json ->> 'updated_at') AS json
        FROM copies JOIN originals USING (what, id)
        WHERE what = 'organizations' AND copies.shard > 0 AND copies.shard = originals.${LIVES_IN}
        AND copies.json <> originals.json AND copies.name = originals.name`),
      statement: updateOrganizations,
    },
    {
      what: "organizations that their database lacks, for the cron to copy",
      rows: parsed(`SELECT json FROM originals WHERE what = 'organizations' AND ${LIVES_IN} IN (SELECT shard FROM held_ranges)
        AND NOT EXISTS (SELECT 1 FROM copies WHERE what = 'organizations' AND id = originals.id AND shard = originals.${LIVES_IN})`),
      statement: insertOutbox,
    },
    { what: "users added", rows: missing("users"), statement: insertCopies("users") },
    {
      what: "keys added",
      rows: ofKnown(
        all(`SELECT kind, key, organization_id, ${now} AS claimed_at FROM held_alone
        WHERE NOT EXISTS (SELECT 1 FROM known_keys AS known WHERE known.kind = held_alone.kind AND known.key = held_alone.key)`),
      ),
      statement: insertLocations,
    },
    {
      what: "keys with another owner now",
      rows: ofKnown(
        all(`SELECT kind, key, held_alone.organization_id, claimed_at FROM held_alone JOIN known_keys AS known USING (kind, key)
        WHERE held_alone.organization_id <> known.organization_id`),
      ),
      statement: updateLocations,
    },
    {
      what: "keys removed, which nothing has",
      // A younger claim is that of a request that goes on.
      rows: all(`SELECT kind, key, claimed_at FROM known_keys AS known WHERE claimed_at < ${now - CLAIM_KEPT_FOR}
        AND NOT EXISTS (SELECT 1 FROM held WHERE held.kind = known.kind AND held.key = known.key AND shard > 0)`),
      statement: deleteLocations,
    },
  ];
}
