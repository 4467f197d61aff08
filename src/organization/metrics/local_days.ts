import { METRICS_QUARTER } from "../../limits.ts";

/** The local date at a time, as `YYYY-MM-DD`: dates in Swedish have this form. */
export function datesIn(timeZone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone });
  return (time) => format.format(time);
}

export type Day<Count extends string> = { date: string } & Record<Count, number>;

/** The sums of quarter hours by local date, in ascending order. */
export function sumByLocalDate<Count extends string>(
  rows: { quarters: string }[],
  counts: Count[],
  dateAt: (time: number) => string,
): Day<Count>[] {
  const days = new Map<string, number[]>();
  for (const { quarters } of rows)
    for (const [quarter, values] of Object.entries<number[]>(JSON.parse(quarters))) {
      if (!values.some(Boolean)) continue;
      const date = dateAt(Number(quarter) * METRICS_QUARTER);
      const sums = days.get(date);
      days.set(date, sums ? sums.map((sum, n) => sum + (values[n] ?? 0)) : values);
    }
  const dates = [...days.keys()].sort();
  const countsOf = (date: string) => counts.map((count, n) => [count, days.get(date)?.[n]]);
  return dates.map((date) => ({ date, ...Object.fromEntries(countsOf(date)) }));
}
