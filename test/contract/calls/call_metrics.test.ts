import { describe, expect, it } from "vitest";
import {
  aClinic,
  ask,
  at,
  BOTH_DAYS,
  DAY,
  dates,
  metrics,
  NEXT_DAY,
  NO_CALLS,
  ofDates,
  theDay,
  twoProviders,
} from "../../worker/support/call_metrics.ts";
import { aRecipient } from "../../worker/support/calls.ts";
import { travelTo } from "../../worker/support/time.ts";

/** A clinic on 5 January, with calls on some of the days before. */
async function aClinicInJanuary() {
  travelTo("2026-01-05T23:00:00Z");
  const { clinic, hold } = await aClinic();
  for (const day of ["2026-01-01", "2026-01-02", "2026-01-04", "2026-01-05"])
    await hold({ started_at: at(0, day), ended_at: at(60, day) });
  await hold({ started_at: at(0, "2026-01-04"), ended_at: at(120, "2026-01-04") });
  return clinic;
}

describe("Call metrics", () => {
  it("total_calls: integer, calls on that date", async () => {
    const { clinic, hold } = await aClinic();
    for (const started_at of [
      "2026-01-31T00:00:00.000Z",
      "2026-01-31T23:59:59.999Z",
      "2026-02-01T00:00:00.000Z",
      "2026-02-01T00:30:00.000+01:00",
      "2026-01-31T23:30:00.000-01:00",
    ])
      await hold({ started_at });
    expect((await metrics(clinic, BOTH_DAYS)).total_calls).toEqual({ [DAY]: 3, [NEXT_DAY]: 2 });
  });

  it("average_duration: decimal, average call duration in seconds; call_fail_rate: decimal, share of calls that failed on that date; average_wait_time: decimal, average seconds users waited before the call started", async () => {
    const { clinic, hold } = await aClinic();
    for (const [seconds, failed] of [
      [0.001, undefined],
      [1, false],
      [1, true],
    ] as const) {
      const participants = [aRecipient({ waiting_since: at(-2 * seconds) })];
      await hold({ ended_at: at(seconds), failed, participants });
    }
    const { average_duration, call_fail_rate, average_wait_time } = await theDay(clinic);
    expect(average_duration[DAY]).toBeCloseTo(2.001 / 3, 12);
    expect(call_fail_rate[DAY]).toBeCloseTo(1 / 3, 12);
    expect(average_wait_time[DAY]).toBeCloseTo(4.002 / 3, 12);
  });
});

describe("GET /call_metrics", () => {
  it("date_start, date_end: string, query, not required, YYYY-MM-DD", async () => {
    const clinic = await aClinicInJanuary();
    expect(await dates(clinic, "date_start=2026-01-02")).toEqual(["2026-01-02", "2026-01-04", "2026-01-05"]);
    expect(await dates(clinic, "date_end=2026-01-04")).toEqual(["2026-01-01", "2026-01-02", "2026-01-04"]);
  });

  it("user_id: string, query, not required; when omitted, metrics for the entire organization are returned", async () => {
    const { clinic, provider, other } = await twoProviders();
    for (const [filter, expected] of [
      [`&user_id=${provider.user_id}`, ofDates({ [DAY]: [2, 100, 0.5, 15] })],
      [`&user_id=${other.user_id}`, ofDates({ [NEXT_DAY]: [1, 50, 0, 40] })],
      ["", ofDates({ [DAY]: [2, 100, 0.5, 15], [NEXT_DAY]: [1, 50, 0, 40] })],
    ] as const)
      expect(await metrics(clinic, BOTH_DAYS + filter)).toEqual(expected);
  });

  it("The three filters combine.", async () => {
    const { clinic, provider, other } = await twoProviders();
    const nextDay = `date_start=${NEXT_DAY}&date_end=${NEXT_DAY}`;
    expect(await metrics(clinic, `${nextDay}&user_id=${provider.user_id}`)).toEqual(NO_CALLS);
    expect(await dates(clinic, `${nextDay}&user_id=${other.user_id}`)).toEqual([NEXT_DAY]);
  });

  it("Response: the call metrics object: four members, each an object keyed by date (YYYY-MM-DD)", async () => {
    const clinic = await aClinicInJanuary();
    const { body } = await ask(clinic, "?date_start=2026-01-02&date_end=2026-01-04");
    expect(body).toEqual(ofDates({ "2026-01-02": [1, 60, 0, 0], "2026-01-04": [2, 90, 0, 0] }));
  });
});
