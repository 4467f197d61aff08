import { RANGE } from "../../database/shards.ts";

/*
 * The position in the events of all databases: the last event read in each range of ids. A range belongs to one database, which writes
 * its events in the order of their ids. An organization that moves keeps the ids of its events, and its old rows stay where they were
 * for a while. So an event can be in two databases, but it is always in the same range, and a position per database would skip
 * some events and repeat others. A database begins a new range whenever an organization moves to it.
 */

/** The last ids read, in ascending order, one for each range. A range without an id has not been read. */
export type Positions = readonly number[];

const rangeOf = (id: number) => Math.floor(id / RANGE);

const startOfRange = (id: number) => rangeOf(id) * RANGE;

const ascending = (one: number, other: number) => one - other;

const SEPARATOR = "~";

/** No character of it needs escaping in a URL. */
export const EVENT_POSITIONS = /^\d{1,16}(~\d{1,16})*$/;

export const readEventPositions = (text: string): Positions =>
  text
    .split(SEPARATOR)
    .map((id) => Math.min(Number(id), Number.MAX_SAFE_INTEGER))
    .sort(ascending);

export const writeEventPositions = (positions: Positions): string => positions.join(SEPARATOR) || "0";

/** The ids that have not been read, as intervals: each begins after its first number and ends with its second. */
export function unreadAfter(positions: Positions): [after: number, to: number][] {
  const ends = [...positions.map(startOfRange), Number.MAX_SAFE_INTEGER];
  return [0, ...positions]
    .map((after, n): [number, number] => [after, ends[n] as number])
    .filter(([after, to]) => after < to);
}

/** The unread events of one database. */
export interface Found<Event> {
  /** The next events. */
  events: Event[];
  /** The highest event id that the database has assigned; null if it has none. */
  newest: number | null;
  /** The positions up to which the database still has events of the same range. */
  read: number[];
}

/**
 * The next events of all databases. Within an organization, they are in order, because its ids only grow.
 *
 * A database is asked a moment before another, and meanwhile an organization can move between the two. Then its events in the second
 * are newer than the state of the first, which may have written others before them. So the page ends before such an event.
 */
export function mergeEvents<Event extends { id: number }>(found: Found<Event>[], limit: number): Event[] {
  const isTooNew = (id: number) =>
    found.some(({ newest }) => newest !== null && rangeOf(newest) === rangeOf(id) && newest < id);
  const byId = new Map(found.flatMap(({ events }) => events.map((event) => [event.id, event])));
  const ids = [...byId.keys()].sort(ascending);
  const end = ids.findIndex(isTooNew);
  return ids.slice(0, end < 0 ? limit : Math.min(end, limit)).map((id) => byId.get(id) as Event);
}

/**
 * The positions after a page. A range whose events up to its position have all been deleted needs no position any more: otherwise, each
 * move would make the positions longer.
 */
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
