import { describe, expect, it } from "vitest";
import {
  aClinic,
  ask,
  at,
  DAY,
  dates,
  metrics,
  NEXT_DAY,
  NO_CALLS,
  ofDates,
  theDay,
  twoProviders,
} from "../support/call_metrics.ts";
import { aProviderOnTheCall, aRecipient, reportCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";

describe("GET /call_metrics for one day", () => {
  it("returns four empty maps if there are no calls", async () => {
    const clinic = await anOrganization();
    expect(await ask(clinic)).toMatchObject({ status: 200, body: NO_CALLS });
    expect(await theDay(clinic)).toEqual(NO_CALLS);
  });

  it("leaves an ongoing call out of the average duration until it ends", async () => {
    const { clinic, hold } = await aClinic();
    const key = await hold();
    expect(await theDay(clinic)).toEqual(ofDates({ [DAY]: [1, 0, 0, 0] }));
    await hold({ ended_at: at(100) });
    expect((await theDay(clinic)).average_duration).toEqual({ [DAY]: 100 });
    await given(reportCall(clinic, key, { ended_at: at(300) }));
    expect((await theDay(clinic)).average_duration).toEqual({ [DAY]: 200 });
  });
});

describe("average_wait_time in GET /call_metrics", () => {
  const waited = (seconds: number, more: object = {}) => aRecipient({ waiting_since: at(-seconds), ...more });

  it.each<[string, object[][], number]>([
    [
      "lasts from waiting_since to the start of the call, whenever the recipient joins",
      [[waited(60, { joined_at: at(40) })], [waited(60, { joined_at: at(-30) })], [waited(120)]],
      80,
    ],
    ["is 0 if the wait began after the start", [[waited(-30, { joined_at: at(90) }), waited(60)]], 30],
    [
      "ignores providers and participants without waiting_since",
      [[aProviderOnTheCall({ waiting_since: at(-1000) }), aRecipient({ joined_at: at(500) }), waited(15)]],
      15,
    ],
    [
      "averages over all recipients, not over the calls",
      [[waited(10), waited(20), waited(30)], [waited(100)]],
      40,
    ],
  ])("%s", async (_, calls, average) => {
    const { clinic, hold } = await aClinic();
    for (const participants of calls) await hold({ participants });
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: average });
  });

  it("includes failed and ongoing calls", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ participants: [waited(10)], failed: true, ended_at: at(60) });
    await hold({ participants: [waited(20)] });
    await hold({ participants: [waited(60)], ended_at: at(60) });
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 30 });
  });

  it("includes a waiting participant only after they join the call", async () => {
    const { clinic, room, hold } = await aClinic();
    const rita = unique("rita");
    await clinic.addParticipant(room.slug, { waiting_since: at(-30) }, rita);
    const key = await hold();
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 0 });
    await given(reportCall(clinic, key, { participants: [{ key: rita }] }));
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 30 });
  });
});

describe("The date of a call in GET /call_metrics", () => {
  it("is the date of its start, even if the call ended or the wait began on another date", async () => {
    const { clinic, hold } = await aClinic();
    await hold({
      started_at: "2026-02-01T00:00:30Z",
      ended_at: "2026-02-02T00:00:30Z",
      participants: [aRecipient({ waiting_since: "2026-01-31T23:59:30Z" })],
    });
    expect(await metrics(clinic, "date_start=2026-01-31&date_end=2026-02-02")).toEqual(
      ofDates({ [NEXT_DAY]: [1, 86_400, 0, 60] }),
    );
  });

  it("moves when a report corrects the start, and a date without calls disappears", async () => {
    const { clinic, hold } = await aClinic();
    const key = await hold({
      ended_at: at(60),
      failed: true,
      participants: [aRecipient({ waiting_since: at(-60) })],
    });
    await given(
      reportCall(clinic, key, { started_at: at(0, NEXT_DAY), ended_at: at(90, NEXT_DAY), failed: false }),
    );
    expect(await metrics(clinic, `date_start=${DAY}&date_end=${NEXT_DAY}`)).toEqual(
      ofDates({ [NEXT_DAY]: [1, 90, 0, 86_460] }),
    );
  });
});

describe("GET /call_metrics for a range", () => {
  it("covers at most 3,660 days, both ends included", async () => {
    const { clinic, hold } = await aClinic();
    for (const day of ["2016-01-01", "2026-01-07"]) await hold({ started_at: at(0, day) });
    expect(await dates(clinic, "date_start=2016-01-01&date_end=2026-01-07")).toEqual([
      "2016-01-01",
      "2026-01-07",
    ]);
    const tooLong = await ask(clinic, "?date_start=2016-01-01&date_end=2026-01-08");
    expectRefusal(tooLong, 400, /date_start.*3,660/);
  });

  describe("on 31 March", () => {
    /** Calls just inside and just outside the ranges of the tests below. */
    async function aClinicInMarch() {
      travelTo("2026-04-01T00:00:00Z");
      const { clinic, hold } = await aClinic();
      const moments = [
        "2025-03-30T23:59:59.999Z",
        "2025-03-31T00:00:00.000Z",
        "2026-01-30T23:59:59.999Z",
        "2026-01-31T00:00:00.000Z",
        "2026-03-01T23:59:59.999Z",
        "2026-03-02T00:00:00.000Z",
        "2026-03-31T23:59:59.999Z",
        "2026-04-01T00:00:00.000Z",
      ];
      for (const started_at of moments) await hold({ started_at });
      travelTo("2026-03-31T12:00:00Z");
      return { clinic, days: moments.map((moment) => moment.slice(0, 10)) };
    }

    it.each([
      ["covers the last 30 days, including today, without dates", "", 5, 7],
      ["ends today if only the start is given", "date_start=2026-01-31", 3, 7],
      ["ends today if only the start is given, and is today", "date_start=2026-03-31", 6, 7],
      ["ends today if the start is further back", "date_start=2025-03-30", 0, 7],
      ["ends today if the start is as far back as allowed", "date_start=2016-03-24", 0, 7],
      ["covers 30 days up to the end if only the end is given", "date_end=2026-03-01", 3, 5],
      ["covers 30 days up to the end of February", "date_end=2026-02-28", 2, 4],
      ["covers 30 days up to an end in the future", "date_end=2026-04-01", 6, 8],
      ["may begin and end in the future", "date_start=2026-04-01&date_end=2026-05-01", 7, 8],
      ["covers only the start if it is in the future and no end is given", "date_start=2026-04-01", 7, 8],
    ])("%s: %s", async (_, query, from, to) => {
      const { clinic, days } = await aClinicInMarch();
      expect(await dates(clinic, query)).toEqual(days.slice(from, to));
    });

    it("refuses a start that is too far back instead of shortening the range", async () => {
      travelTo("2026-03-31T12:00:00Z");
      const clinic = await anOrganization();
      for (const start of ["2016-03-23", "0000-01-01"])
        expectRefusal(await ask(clinic, `?date_start=${start}`), 400, /date_start.*3,660/);
    });

    it("takes the UTC date as today", async () => {
      const { clinic } = await aClinicInMarch();
      travelTo("2026-04-01T00:00:00.000Z");
      expect(await dates(clinic, "")).toEqual(["2026-03-31", "2026-04-01"]);
      travelTo("2026-03-31T23:59:59.999Z");
      expect(await dates(clinic, "")).toEqual(["2026-03-02", "2026-03-31"]);
    });
  });
});

describe("GET /call_metrics?user_id=", () => {
  it("covers the last 30 days without dates", async () => {
    const { clinic, provider } = await twoProviders();
    travelTo(`${NEXT_DAY}T12:00:00Z`);
    expect(await dates(clinic, `user_id=${provider.user_id}`)).toEqual([DAY]);
    travelTo("2026-03-31T12:00:00Z");
    expect(await dates(clinic, `user_id=${provider.user_id}`)).toEqual([]);
  });

  it.each(["9007199254740991", "99999999999999999999"])(
    "returns 404 for %s, a positive integer larger than any user's id",
    async (user_id) => {
      expectRefusal(await ask(await anOrganization(), `?user_id=${user_id}`), 404);
    },
  );
});

describe("GET /call_metrics", () => {
  it("reports an invalid range before an unknown user", async () => {
    const clinic = await anOrganization();
    expectRefusal(await ask(clinic, "?date_start=x&user_id=999999999"), 400, /date_start/);
    const reversed = `?date_start=${NEXT_DAY}&date_end=${DAY}&user_id=999999999`;
    expectRefusal(await ask(clinic, reversed), 400, /date_start/);
  });

  it("is open to clients of every role, for every user", async () => {
    const { clinic, provider, hold } = await aClinic();
    await hold();
    const query = `?date_start=${DAY}&date_end=${DAY}`;
    for (const roles of [["provider_assistant"], ["provider"], ["organization_admin"]]) {
      const client = await clinic.addClient((await clinic.addUser("Al", roles)).id);
      for (const whose of ["", `&user_id=${provider.user_id}`]) {
        const answer = await client.get(`/call_metrics${query}${whose}`);
        expect(answer).toMatchObject({ status: 200, body: { total_calls: { [DAY]: 1 } } });
      }
    }
  });
});
