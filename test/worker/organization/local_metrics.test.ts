import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { dateIn, TIME_ZONES } from "../../support/time_zones.ts";
import { aClinic, ofDates } from "../support/call_metrics.ts";
import { aRecipient, reportCall } from "../support/calls.ts";
import { given, type Organization } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";

const setTimeZone = ({ client }: Pick<Organization, "client">, time_zone: string | null) =>
  given(client.put("/organization", { organization: { time_zone } }));

type Metrics = Record<string, Record<string, number>>;

interface Call {
  started_at: number;
  ended_at: number | null;
  failed: boolean;
  wait: number | null;
  user_id: number;
  organization_user_id: number;
  waiting_room_id: number;
}

const average = (values: number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The metrics as counted from the calls, without any sums by day or quarter hour. */
function recount(calls: Call[], dateOf: (time: number) => string): Metrics {
  const days = Map.groupBy(calls, ({ started_at }) => dateOf(started_at));
  const counts = Array.from(days, ([date, all]): [string, Parameters<typeof ofDates>[0][string]] => [
    date,
    [
      all.length,
      average(
        all.flatMap((call) => (call.ended_at === null ? [] : [(call.ended_at - call.started_at) / 1000])),
      ),
      average(all.map(({ failed }) => Number(failed))),
      average(all.flatMap(({ wait }) => (wait === null ? [] : [wait]))),
    ],
  ]);
  return ofDates(Object.fromEntries(counts)) as Metrics;
}

/** Random calls over 400 days, most of them near midnight somewhere; some of them reported twice, the first time with other times. */
async function aClinicForAYear() {
  const { clinic, provider, room } = await aClinic();
  const people = [provider, await clinic.addProvider("Peter Provider")];
  const rooms = [room, await clinic.addRoom({ name: "Radiology" })];
  const first = Date.parse("2025-01-10T00:00:00Z");
  const pick = <Item>(items: Item[]) => items[Math.floor(Math.random() * items.length)] as Item;
  const calls = Array.from({ length: 600 }, (): Call => {
    const started_at =
      first + Math.floor(Math.random() * 400 * 96) * 900_000 + pick([0, 0, 1, 899_999, 450_000]);
    const { id, user_id } = pick(people);
    const ended_at = pick([null, started_at + 1000 * Math.floor(Math.random() * 5000)]);
    const others = { failed: pick([true, false, false]), waiting_room_id: pick(rooms).id, wait: null };
    return { started_at, ended_at, organization_user_id: id, user_id, ...others };
  });
  await env.DB.prepare(
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed, created_at, updated_at)
     select ?1, 'random-' || key, value ->> 'organization_user_id', value ->> 'waiting_room_id', value ->> 'started_at',
       value ->> 'ended_at', value ->> 'failed', 1, 1 from json_each(?2)`,
  )
    .bind(clinic.id, JSON.stringify(calls))
    .run();
  const iso = (time: number) => new Date(time).toISOString();
  for (const [n, call] of calls.slice(0, 30).entries()) {
    const moved = call.started_at + pick([0, -1, 3, 40]) * 3_600_000;
    const report = { started_at: iso(moved), ended_at: iso(moved + 60_000), failed: n % 2 === 0 };
    const participants = [aRecipient({ waiting_since: iso(moved - 90_000) })];
    await given(reportCall(clinic, `random-${n}`, { ...report, participants }));
    Object.assign(call, { started_at: moved, ended_at: moved + 60_000, failed: n % 2 === 0, wait: 90 });
  }
  return { clinic, calls, people, rooms };
}

describe("GET /call_metrics?days=local", () => {
  it("counts what a recount by local dates counts, in twelve time zones, for all and by user and room", async () => {
    travelTo("2026-03-01T00:00:00Z");
    const { clinic, calls, people, rooms } = await aClinicForAYear();
    const [{ user_id } = { user_id: 0 }] = people;
    const [{ id: room_id } = { id: 0 }] = rooms;
    const filters: [string, (call: Call) => boolean][] = [
      ["", () => true],
      [`&user_id=${user_id}`, (call) => call.user_id === user_id],
      [`&waiting_room_id=${room_id}`, (call) => call.waiting_room_id === room_id],
      [
        `&user_id=${user_id}&waiting_room_id=${room_id}`,
        (call) => call.user_id === user_id && call.waiting_room_id === room_id,
      ],
    ];
    const read = async (query: string) => given(clinic.client.get(`/call_metrics?${query}`));
    const expectCounts = (answer: Metrics, wanted: Metrics) => {
      for (const [name, map] of Object.entries(wanted)) {
        const dates = Object.keys(map).sort();
        expect(Object.keys(answer[name] ?? {})).toEqual(dates);
        for (const date of dates) expect(answer[name]?.[date]).toBeCloseTo(map[date] ?? -1, 9);
      }
    };
    for (const timeZone of TIME_ZONES) {
      await setTimeZone(clinic, timeZone);
      const [start, end] = ["2025-03-30", "2025-11-02"];
      for (const [filter, matches] of filters) {
        const matching = calls.filter(matches);
        const local = await read(`days=local&date_start=2025-01-01&date_end=2026-02-28${filter}`);
        expectCounts(
          local,
          recount(matching, (time) => dateIn(timeZone, time)),
        );
      }
      const within = calls.filter(({ started_at }) => {
        const date = dateIn(timeZone, started_at);
        return start <= date && date <= end;
      });
      const part = await read(`days=local&date_start=${start}&date_end=${end}`);
      expectCounts(
        part,
        recount(within, (time) => dateIn(timeZone, time)),
      );
    }
    for (const [filter, matches] of filters) {
      const inUtc = await read(`date_start=2025-01-01&date_end=2026-02-28${filter}`);
      expectCounts(
        inUtc,
        recount(calls.filter(matches), (time) => dateIn("UTC", time)),
      );
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
