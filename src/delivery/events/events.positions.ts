import { RANGE } from "../../database/shards.ts";

/*
 * The last event read in each range of ids. A range belongs to one database, which writes its events in the order of their ids.
 * An organization that moves keeps the ids of its events, so an event can be in two databases, but always in the same range: a
 * position per database would skip some events and repeat others.
 */

/** In ascending order, one for each range. A range without an id has not been read. */
export type Positions = readonly number[];

const rangeOf = (id: number) => Math.floor(id / RANGE);

const startOfRange = (id: number) => rangeOf(id) * RANGE;

const ascending = (one: number, other: number) => one - other;

const SEPARATOR = "~";

export const EVENT_POSITIONS = /^\d{1,16}(~\d{1,16})*$/;

export const readEventPositions = (text: string): Positions =>
  text
    .split(SEPARATOR)
    .map((id) => Math.min(Number(id), Number.MAX_SAFE_INTEGER))
    .sort(ascending);

export const writeEventPositions = (positions: Positions): string => positions.join(SEPARATOR) || "0";

/** Intervals of ids: each begins after its first number and ends with its second. */
export function unreadAfter(positions: Positions): [after: number, to: number][] {
  const ends = [...positions.map(startOfRange), Number.MAX_SAFE_INTEGER];
  return [0, ...positions]
    .map((after, n): [number, number] => [after, ends[n] as number])
    .filter(([after, to]) => after < to);
}

export interface Found<Event> {
  events: Event[];
  newest: number | null;
  read: number[];
}

/**
 * In order within an organization, because its ids only grow. Meanwhile, an organization can move between two databases that
 * were asked. Then its events in the second are newer than the state of the first, which may have written others before them.
 * So the page ends before such an event.
 */
export function mergeEvents<Event extends { id: number }>(found: Found<Event>[], limit: number): Event[] {
  const isTooNew = (id: number) =>
    found.some(({ newest }) => newest !== null && rangeOf(newest) === rangeOf(id) && newest < id);
  const byId = new Map(found.flatMap(({ events }) => events.map((event) => [event.id, event])));
  const ids = [...byId.keys()].sort(ascending);
  const end = ids.findIndex(isTooNew);
  return ids.slice(0, end < 0 ? limit : Math.min(end, limit)).map((id) => byId.get(id) as Event);
}

/** A range whose events up to its position were all deleted needs none any more: otherwise, each move would add a position. */
export function advance(
  positions: Positions,
  found: Pick<Found<unknown>, "read">[],
  page: { id: number }[],
): Positions {
  if (page.length === 0) return positions;
  const needed = new Set(found.flatMap(({ read }) => read));
  const ids = [...positions.filter((id) => needed.has(id)), ...page.map(({ id }) => id)];
  return [...new Map(ids.map((id) => [rangeOf(id), id])).values()].sort(ascending);
}
