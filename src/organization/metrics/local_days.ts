import { dateOf } from "../../http/dates.ts";
import { METRICS_QUARTER } from "../../limits.ts";
import { DAY } from "../../units.ts";

/** The offset of a time zone from UTC, in milliseconds, by time. Asks Intl, which is slow, only once for most days. */
export function offsetsOf(timeZone: string): (time: number) => number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const known = new Map<number, number>();
  function offsetAt(time: number): number {
    const [, sign, offset = ""] = /GMT([+-])([\d:]+)$/.exec(format.format(time)) ?? [];
    const size = sign ? Date.parse(`1970-01-01T${offset.padEnd(8, ":00")}Z`) : 0;
    return sign === "-" ? -size : size;
  }
  function offsetAtStart(day: number): number {
    const offset = known.get(day) ?? offsetAt(day * DAY);
    known.set(day, offset);
    return offset;
  }
  return (time) => {
    const day = Math.floor(time / DAY);
    const offset = offsetAtStart(day);
    return offset === offsetAtStart(day + 1) ? offset : offsetAt(time);
  };
}

export type Day<Count extends string> = { date: string } & Record<Count, number>;

/** The sums of quarter hours by local date, in ascending order. */
export function sumByLocalDate<Count extends string>(
  rows: { quarters: string }[],
  counts: Count[],
  offsetAt: (time: number) => number,
): Day<Count>[] {
  const days = new Map<string, Day<Count>>();
  for (const { quarters } of rows)
    for (const [quarter, values] of Object.entries<number[]>(JSON.parse(quarters))) {
      if (!values.some(Boolean)) continue;
      const time = Number(quarter) * METRICS_QUARTER;
      const date = dateOf(time + offsetAt(time));
      const before = days.get(date);
      const sums = counts.map((count, n) => [count, (before?.[count] ?? 0) + (values[n] ?? 0)]);
      days.set(date, { date, ...Object.fromEntries(sums) });
    }
  return [...days.values()].sort((one, other) => (one.date < other.date ? -1 : 1));
}
