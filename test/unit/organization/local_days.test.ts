import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { METRICS_QUARTER } from "../../../src/limits.ts";
import { datesIn, sumByLocalDate } from "../../../src/organization/metrics/local_days.ts";
import { HOUR } from "../../../src/units.ts";
import { dateIn, TIME_ZONES } from "../../support/time_zones.ts";

/** The rows of a day in UTC have its quarter hours. */
const rowsOf = (times: number[]) => {
  const rows = Map.groupBy(times, (time) => Math.floor(time / (24 * HOUR)));
  return [...rows.values()].map((day) => {
    const quarters: Record<string, number[]> = {};
    for (const time of day) {
      const counts = quarters[Math.floor(time / METRICS_QUARTER)] ?? [0, 0];
      quarters[Math.floor(time / METRICS_QUARTER)] = [(counts[0] ?? 0) + 1, (counts[1] ?? 0) + (time % 7)];
    }
    return { quarters: JSON.stringify(quarters) };
  });
};

const countsIn = (timeZone: string, times: number[]) =>
  sumByLocalDate(rowsOf(times), ["calls", "sum"], datesIn(timeZone));

describe.each(TIME_ZONES)("In %s", (timeZone) => {
  const time = fc.integer({ min: Date.parse("2000-01-01"), max: Date.parse("2040-01-01") });

  it("sums are those of a recount by local date", () => {
    fc.assert(
      fc.property(fc.array(time, { maxLength: 50 }), (times) => {
        const recount = Map.groupBy(
          [...times].sort((one, other) => one - other),
          (at) => dateIn(timeZone, at),
        );
        expect(countsIn(timeZone, times)).toEqual(
          Array.from(recount, ([date, all]) => ({
            date,
            calls: all.length,
            sum: all.reduce((sum, at) => sum + (at % 7), 0),
          })),
        );
      }),
    );
  });
});

it.each([
  ["Europe/Berlin", "2026-03-29", 23],
  ["Europe/Berlin", "2026-10-25", 25],
  ["Australia/Lord_Howe", "2026-04-05", 24.5],
  ["Pacific/Apia", "2011-12-30", 0],
  ["UTC", "2026-03-29", 24],
])("in %s, %s has %d hours", (timeZone, date, hours) => {
  const start = Date.parse(date) - 48 * HOUR;
  const everyQuarter = Array.from({ length: 5 * 96 }, (_, n) => start + n * METRICS_QUARTER);
  const day = countsIn(timeZone, everyQuarter).find((each) => each.date === date);
  expect((day?.calls ?? 0) / 4).toBe(hours);
});

it("quarter hours whose counts have dropped to zero have no date", () => {
  const rows = [{ quarters: '{"0":[0,0],"-1":[1,5]}' }];
  expect(sumByLocalDate(rows, ["calls", "sum"], datesIn("UTC"))).toEqual([
    { date: "1969-12-31", calls: 1, sum: 5 },
  ]);
});
