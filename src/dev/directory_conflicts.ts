/** What two databases contradict each other about: see directory_comparison.ts, which has the tables. */
import type { DatabaseSync } from "node:sqlite";

/** An organization of the directory, which says where its rows are. */
export const LIVES_IN = "json ->> 'shard'";

/** Why one of the databases was not read, each reason in a line: a binding is missing, or leads to another database. */
export function unreadIn(database: DatabaseSync): string[] {
  const all = (sql: string) => database.prepare(sql).all();
  return [
    ...all(`SELECT held.shard, held.range, known.shard AS other, known.range AS given
      FROM held_ranges AS held JOIN known_ranges AS known
      ON (known.shard = held.shard) <> (known.range = held.range)`).map(
      ({ shard, range, other, given }) =>
        `Shard ${shard} has the range ${range}, and the directory gave ${given} to shard ${other}.`,
    ),
    ...all(`SELECT one.shard, other.shard AS other, range
      FROM held_ranges AS one JOIN held_ranges AS other USING (range) WHERE one.shard < other.shard`).map(
      ({ shard, other, range }) => `Shard ${shard} and shard ${other} have the same range, ${range}.`,
    ),
    ...all(`SELECT shard, sum(organizations) AS organizations
      FROM (SELECT shard, 0 AS organizations FROM known_ranges
        UNION ALL SELECT ${LIVES_IN}, 1 FROM originals WHERE what = 'organizations')
      WHERE shard > 0 AND shard NOT IN (SELECT shard FROM held_ranges) GROUP BY shard`).map(
      ({ shard, organizations }) =>
        `Shard ${shard} is not bound: the directory knows ${organizations ? `organizations there (${organizations})` : "its range"}.`,
    ),
  ];
}

/** Each in a line, with ids only. */
export function conflictsIn(database: DatabaseSync): string[] {
  const all = (sql: string) => database.prepare(sql).all();
  return [
    ...all(`SELECT id, shard, ${LIVES_IN} AS said FROM copies
      WHERE what = 'organizations' AND shard > 0 AND shard <> said
      UNION SELECT id, shard, originals.${LIVES_IN} AS said FROM copies JOIN originals USING (what, id)
      WHERE what = 'organizations' AND shard > 0 AND shard <> said`).map(
      ({ id, shard, said }) => `Organization ${id} is in shard ${shard}, and a row of it says shard ${said}.`,
    ),
    ...all(`SELECT one.what, one.id, one.shard, other.id AS other, other.shard AS elsewhere
      FROM copies AS one JOIN copies AS other ON other.what = one.what AND other.id = one.id AND other.shard < one.shard
      WHERE other.name <> one.name
      UNION ALL SELECT one.what, one.id, one.shard, other.id, other.shard
      FROM copies AS one JOIN copies AS other ON other.what = one.what AND other.name = one.name AND other.shard < one.shard
      WHERE other.id <> one.id`).map(
      ({ what, id, shard, other, elsewhere }) =>
        `The ${what} ${id} in shard ${shard} and ${other} in shard ${elsewhere} must have the same id and the same name, or neither.`,
    ),
    ...all(`SELECT kind, group_concat('row ' || row_id || ' of organization ' || organization_id || ' in shard ' || shard, ', and ') AS owners
      FROM contested JOIN held USING (kind, key) GROUP BY kind, key ORDER BY kind, min(shard), min(row_id)`).map(
      ({ kind, owners }) => `The same key of a ${kind}: ${owners}.`,
    ),
  ];
}
