import { dateOf, endOfDate } from "../../http/dates.ts";
import { SEALED_AFTER } from "../../lifetimes.ts";
import { DAY } from "../../units.ts";

export const newestClosedDay = (now: number): string => dateOf(now - SEALED_AFTER - DAY);

/**
 * The day of an organization's next seal: the day of its first unsealed entry. If that day is already sealed, because
 * the entry came late or the seal was full, it is the day after the last seal. The client package checks the same rule.
 *
 * @param first_at the time of the first unsealed entry
 */
export function dayToSeal(first_at: number, last_date: string | null): string {
  const date = dateOf(first_at);
  return last_date === null || date > last_date ? date : dateOf(endOfDate(last_date));
}
