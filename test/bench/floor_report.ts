/** How the floor makes a report: what is known is read as one JSON text, and merged by hand. */
import type { PlatformFloorRequest } from "./floor.ts";
import type * as shape from "./floor_shapes.ts";

/** SQL for what is known, as one JSON text, and its values. */
interface Known {
  sql: string;
  values: unknown[];
}

/** A statement with its values. */
export type Bound = [sql: string, ...values: unknown[]];

/**
 * One round trip to read, and one to write what `decide` returns.
 *
 * @returns what the statements returned, none where nothing is to be written
 */
export async function report(
  { db }: PlatformFloorRequest,
  { sql, values }: Known,
  decide: (known: shape.Row) => Bound[] | Promise<Bound[]>,
): Promise<shape.Row[][]> {
  const known = await db
    .prepare(`select ${sql} known`)
    .bind(...values)
    .first<string>("known");
  const writes = await decide(JSON.parse(known ?? "null"));
  if (writes.length === 0) return [];
  const guard = `insert into refusals (reason) select 'refused:changed' where ${sql} is not ?${values.length + 1}`;
  const [, ...written] = await db.batch<shape.Row>([
    db.prepare(guard).bind(...values, known),
    ...writes.map(([text, ...bound]) => db.prepare(text).bind(...bound)),
  ]);
  return written.map(({ results }) => results);
}

/** SQL for a row as JSON, null where there is none. */
export const jsonOf = (columns: string, from: string) => `json((select ${jsonObject(columns)} from ${from}))`;

export const jsonObject = (columns: string) =>
  `json_object(${columns.split(/,\s*/).map((column) => `'${column}', ${column}`)})`;

/** The statement that writes a new row, or what differs of a known one: an index of the rest is not touched. */
export function save(
  table: string,
  known: shape.Row | null,
  next: shape.Row,
  now: number,
): Bound | undefined {
  const names = Object.keys(next).filter((name) => !known || known[name] !== next[name]);
  if (known && names.length === 0) return undefined;
  const values = names.map((name) => next[name]);
  if (known)
    return [
      `update ${table} set ${names.map((name) => `${name} = ?`)}, updated_at = ? where id = ? returning id, updated_at`,
      ...values,
      now,
      known.id,
    ];
  return [
    `insert into ${table} (${names}, created_at, updated_at) values (${names.map(() => "?")}, ?, ?) returning id`,
    ...values,
    now,
    now,
  ];
}

const TIMES = ["waiting_since", "joined_at", "left_at", "started_at", "ended_at"];

/** The fields as they are stored: times are milliseconds. */
export function stored(sent: shape.Row): shape.Row {
  const fields = { ...sent };
  for (const name of TIMES) if (fields[name]) fields[name] = Date.parse(fields[name]);
  return fields;
}
