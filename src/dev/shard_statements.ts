/*
 * Statements that make a database one of several: see `shards` in src/directory/directory.table.ts. All may be run again, after an
 * interrupted command.
 */
import { RANGE } from "../database/shards.ts";

/** The number of the database, read from itself. The first database has none until an organization has moved to it. */
export const OWN_SHARD = "SELECT value AS shard FROM database_settings WHERE name = 'shard'";

/** Every database other than the first that the directory knows, by its range or by organizations that live there. */
export const KNOWN_SHARDS = `SELECT shard, max(range) AS range, sum(organizations) AS organizations
  FROM (SELECT shard, range, 0 AS organizations FROM shards WHERE shard > 0
    UNION ALL SELECT shard, NULL, 1 FROM places WHERE shard > 0 AND deleted_at IS NULL)
  GROUP BY shard ORDER BY shard`;

/**
 * Gives a database a new range unless it has one, and returns its range.
 *
 * @param own the range that the database itself has, if the directory has lost it
 */
export const rangeStatement = (shard: number, own?: number) =>
  `INSERT INTO shards (shard, range) SELECT ${shard}, coalesce(${own ?? "NULL"}, max(range) + 1, 1) FROM shards WHERE true
    ON CONFLICT (shard) DO UPDATE SET range = range RETURNING range`;

export const OWN_RANGE = "SELECT value AS range FROM database_settings WHERE name = 'range'";

const NUMBERED = "type = 'table' AND sql LIKE '%AUTOINCREMENT%' AND name <> 'd1_migrations'";

/**
 * Stores the database's number and range in it, and makes its ids begin in the range. Also needed after a migration that adds a
 * table: its ids would begin at 1, as in every other database.
 */
export function rangeStatements(shard: number, range: number): string[] {
  const first = range * RANGE;
  return [
    `INSERT INTO database_settings (name, value) VALUES ('range', ${range}), ('shard', ${shard})
      ON CONFLICT (name) DO NOTHING`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT name, ${first} FROM sqlite_schema
      WHERE ${NUMBERED} AND name NOT IN (SELECT name FROM sqlite_sequence)`,
    `UPDATE sqlite_sequence SET seq = ${first} WHERE seq < ${first} AND name IN (SELECT name FROM sqlite_schema WHERE ${NUMBERED})`,
    `INSERT INTO sequences (name, value) VALUES ('transcript_lines', ${first})
      ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
  ];
}
