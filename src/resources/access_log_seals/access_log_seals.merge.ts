import { dateOf, endOfDate } from "../../http/dates.ts";
import { SEALED_AFTER } from "../../lifetimes.ts";
import { DAY } from "../../units.ts";

/** The newest day that may be sealed. */
export const newestClosedDay = (now: number): string => dateOf(now - SEALED_AFTER - DAY);

/**
 * The day that an organization's next seal is for: that of its first entry that no seal has. A seal is for all entries up to
 * the first one of a later day, so an entry that came after its day was sealed is in the seal of the next day.
 *
 * @param first_at when that entry was made
 * @param last_date the day of its last seal
 */
export function dayToSeal(first_at: number, last_date: string | null): string {
  const date = dateOf(first_at);
  return last_date === null || date > last_date ? date : dateOf(endOfDate(last_date));
}
