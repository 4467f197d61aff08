import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { dateIn, TIME_ZONES } from "../../support/time_zones.ts";
import { aClinic, ofDates } from "../support/call_metrics.ts";
import { given, type Organization } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";

const setTimeZone = ({ client }: Pick<Organization, "client">, time_zone: string | null) =>
  given(client.put("/organization", { organization: { time_zone } }));

/** The time, the duration in seconds, and whether the call failed. */
type Call = [started_at: number, seconds: number, failed: boolean];

const average = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The metrics as counted from the calls, without any sums by day or quarter hour. */
const recount = (calls: Call[], dateOf: (time: number) => string) =>
  ofDates(
    Object.fromEntries(
      Array.from(
        Map.groupBy(calls, ([started_at]) => dateOf(started_at)),
        ([date, all]) => [
          date,
          [all.length, average(all.map((call) => call[1])), average(all.map((call) => Number(call[2]))), 0],
        ],
      ),
    ),
  );

/** Random calls over 400 days, most of them near midnight somewhere. */
async function aClinicForAYear() {
  const { clinic, provider, room } = await aClinic();
  const pick = <Item>(items: Item[]) => items[Math.floor(Math.random() * items.length)] as Item;
  const calls = Array.from({ length: 600 }, (): Call => {
    const quarter = Math.floor(Math.random() * 400 * 96) * 900_000;
    const started_at = Date.parse("2025-01-10T00:00:00Z") + quarter + pick([0, 0, 1, 899_999, 450_000]);
    return [started_at, Math.floor(Math.random() * 5000), pick([true, false, false])];
  });
  await env.DB.prepare(
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed, created_at, updated_at)
     select ?1, 'random-' || key, ?2, ?3, value ->> 0, (value ->> 0) + 1000 * (value ->> 1), value ->> 2, 1, 1 from json_each(?4)`,
  )
    .bind(clinic.id, provider.id, room.id, JSON.stringify(calls))
    .run();
  return { clinic, calls };
}

describe("GET /call_metrics?days=local", () => {
  it("counts what a recount by local dates counts, in twelve time zones", async () => {
    travelTo("2026-03-01T00:00:00Z");
    const { clinic, calls } = await aClinicForAYear();
    for (const timeZone of TIME_ZONES) {
      await setTimeZone(clinic, timeZone);
      const dateOf = (time: number) => dateIn(timeZone, time);
      for (const [start, end] of [
        ["2025-01-01", "2026-02-28"],
        ["2025-03-30", "2025-11-02"],
      ] as const) {
        const within = calls.filter(([at]) => start <= dateOf(at) && dateOf(at) <= end);
        const counted = await given(
          clinic.client.get(`/call_metrics?days=local&date_start=${start}&date_end=${end}`),
        );
        for (const [name, map] of Object.entries(recount(within, dateOf))) {
          const dates = Object.keys(map).sort();
          expect(Object.keys(counted[name])).toEqual(dates);
          for (const date of dates) expect(counted[name][date]).toBeCloseTo(map[date] ?? -1, 9);
        }
      }
    }
  }, 60_000);

  it("ends by default with today where the organization is", async () => {
    const { clinic, hold } = await aClinic();
    travelTo("2026-03-31T23:00:00Z");
    for (const started_at of ["2026-03-02T22:29:59Z", "2026-03-02T22:30:00Z", "2026-03-31T22:59:59Z"])
      await hold({ started_at });
    const dates = async (query: string) =>
      Object.keys((await given(clinic.client.get(`/call_metrics${query}`))).total_calls);
    await setTimeZone(clinic, "Asia/Kolkata");
    expect(await dates("?days=local")).toEqual(["2026-03-03", "2026-04-01"]);
    expect(await dates("?days=local&date_start=2026-03-04")).toEqual(["2026-04-01"]);
    await setTimeZone(clinic, "America/New_York");
    expect(await dates("?days=local")).toEqual(["2026-03-02", "2026-03-31"]);
    await setTimeZone(clinic, null);
    expect(await dates("?days=local")).toEqual(["2026-03-02", "2026-03-31"]);
  });

  it("counts calls before 1970 on their dates", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ started_at: "1969-12-31T23:59:59.999Z" });
    await setTimeZone(clinic, "America/New_York");
    const query = "date_start=1969-12-01&date_end=1970-01-31";
    for (const days of ["", "&days=local"])
      expect((await given(clinic.client.get(`/call_metrics?${query}${days}`))).total_calls).toEqual({
        "1969-12-31": 1,
      });
  });
});
