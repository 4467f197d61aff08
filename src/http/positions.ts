import { MAX_INTEGER_LENGTH } from "../limits.ts";
import { reference } from "./wire.ts";

/*
 * The last id read in each database: a single id would skip rows that a database with lower ids adds later. With the first
 * database only, it is just that id, so that it stays valid when a second database is added.
 */

/** By shard. A shard without an id has not been read. */
export type Positions = ReadonlyMap<number, number>;

/** The id in the first database, or `shard.id` for each. About 60 shards fit into the maximum length. */
export const POSITIONS = /^(\d+|\d{1,5}\.\d{1,16}(~\d{1,5}\.\d{1,16})*)$/;

export const NO_POSITIONS = "must be 0, or the `next_after` of a response";

export const afterPositions = () =>
  reference(MAX_INTEGER_LENGTH)
    .regex(POSITIONS, NO_POSITIONS)
    .transform(readPositions)
    .default(new Map())
    .meta({ override: { type: "string", pattern: POSITIONS.source, default: "0" } });

function readPositions(text: string): Positions {
  const parts = text.includes(".") ? text.split("~") : [`0.${text}`];
  return new Map(
    parts.map((part) => {
      const [shard, id] = part.split(".");
      return [Number(shard), Math.min(Number(id), Number.MAX_SAFE_INTEGER)];
    }),
  );
}

export function writePositions(positions: Positions): number | string {
  const entries = [...positions].filter(([, id]) => id > 0).sort(([one], [other]) => one - other);
  const isNumber = entries.every(([shard]) => shard === 0);
  return isNumber ? (positions.get(0) ?? 0) : entries.map((entry) => entry.join(".")).join("~");
}
