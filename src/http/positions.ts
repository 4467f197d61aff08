import { MAX_INTEGER_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { reference } from "./wire.ts";

/*
 * How far a list of several databases was read: after which id in each. One id for all would skip what a database with lower
 * ids gets later. For the caller it is opaque. In the first database alone it is that id, so that it is a number where there is
 * no other database, and a caller goes on from its number when there is one.
 */

/** The ids, by the shards: where there is none, nothing was read. */
export type Positions = ReadonlyMap<number, number>;

/** The id of the first database, or `shard.id` of each, which a URL takes as it is. Some 60 fit into the allowed length. */
export const POSITIONS = /^(\d+|\d{1,5}\.\d{1,16}(~\d{1,5}\.\d{1,16})*)$/;

export const afterPositions = lazily(() =>
  reference(MAX_INTEGER_LENGTH)
    .regex(POSITIONS, "must be 0, or the `next_after` of a response")
    .transform(readPositions)
    .default(new Map())
    .meta({ override: { type: "string", pattern: POSITIONS.source, default: "0" } }),
);

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
