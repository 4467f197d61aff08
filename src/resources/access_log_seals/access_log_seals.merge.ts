import { dateOf, endOfDate } from "../../http/dates.ts";
import { SEALED_AFTER } from "../../lifetimes.ts";
import { DAY } from "../../units.ts";

/** The newest day that may be sealed. */
export const newestClosedDay = (now: number): string => dateOf(now - SEALED_AFTER - DAY);

/**
 * The day of an organization's next seal: that of its first entry without a seal, or the day after its last seal if that entry
 * came after its day was sealed, or beyond a full seal. The client package checks the same rule.
 *
 * @param first_at when that entry was made
 */
export function dayToSeal(first_at: number, last_date: string | null): string {
  const date = dateOf(first_at);
  return last_date === null || date > last_date ? date : dateOf(endOfDate(last_date));
}
