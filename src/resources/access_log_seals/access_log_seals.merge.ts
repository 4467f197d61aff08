import { dateOf, endOfDate } from "../../http/dates.ts";
import { SEALED_AFTER } from "../../lifetimes.ts";
import { SEALED_PART } from "../../limits.ts";
import { DAY } from "../../units.ts";

/** The newest day that may be sealed. */
export const newestClosedDay = (now: number): string => dateOf(now - SEALED_AFTER - DAY);

/** The last seal of an organization. */
interface LastSeal {
  date: string;
  part: number;
  count: number;
}

/**
 * The day that an organization's next seal is for: that of its first entry that no seal has. Where the last seal is a full part,
 * its day may go on: then it is the next part. A seal is for all entries up to the first one of a later day, so an entry that
 * came after its day was sealed is in the seal of the next day.
 *
 * @param first_at when that entry was made
 */
export function partToSeal(first_at: number, last: LastSeal | null): { date: string; part: number } {
  const date = dateOf(first_at);
  if (last === null || date > last.date) return { date, part: 1 };
  return last.count >= SEALED_PART
    ? { date: last.date, part: last.part + 1 }
    : { date: dateOf(endOfDate(last.date)), part: 1 };
}
