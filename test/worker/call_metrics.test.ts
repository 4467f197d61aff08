import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { aCall, aProviderOnTheCall, aRecipient, reportCall } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

const DAY = "2026-01-31";
const NEXT_DAY = "2026-02-01";

/** The four maps of a response, from what they say of each date, in this order. */
const ofDates = (dates: Record<string, [total: number, duration: number, rate: number, wait: number]>) => {
  const map = (at: number) => Object.fromEntries(Object.entries(dates).map(([date, all]) => [date, all[at]]));
  return { total_calls: map(0), average_duration: map(1), call_fail_rate: map(2), average_wait_time: map(3) };
};

const NO_CALLS = ofDates({});

/** A time on the day, a number of seconds after half past nine. */
const at = (seconds: number, day = DAY) =>
  new Date(Date.parse(`${day}T09:30:00Z`) + seconds * 1000).toISOString();

/** A clinic with a provider; `hold` reports a call of this provider, at half past nine by default. */
async function aClinic() {
  const clinic = await anOrganization();
  const provider = await clinic.addProvider();
  const room = await clinic.addRoom();
  const hold = async (call: object = {}) => {
    const key = unique("call");
    const first = { waiting_room_slug: room.slug, organization_user_id: provider.id, started_at: at(0) };
    await given(reportCall(clinic, key, { ...first, participants: [], ...call }));
    return key;
  };
  return { clinic, provider, room, hold };
}

const ask = ({ client }: Pick<Organization, "client">, query = "") => client.get(`/call_metrics${query}`);

const metrics = async (clinic: Pick<Organization, "client">, query: string) =>
  given(ask(clinic, `?${query}`));

const theDay = (clinic: Pick<Organization, "client">) => metrics(clinic, `date_start=${DAY}&date_end=${DAY}`);

/** The dates in the response; all four maps must have the same dates. */
async function dates(clinic: Pick<Organization, "client">, query: string) {
  const { total_calls, ...others } = await metrics(clinic, query);
  for (const map of Object.values(others))
    expect(Object.keys(map as object)).toEqual(Object.keys(total_calls));
  return Object.keys(total_calls);
}

describe("The metrics of a day", () => {
  it("are the number of calls, their average duration, their fail rate and the average wait", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ ended_at: at(1800), participants: [aRecipient({ waiting_since: at(-60) })] });
    await hold({ ended_at: at(600), participants: [aRecipient({ waiting_since: at(-120) })] });
    await hold({ ended_at: at(6), failed: true });
    await hold();
    const answer = await ask(clinic, `?date_start=${DAY}&date_end=${DAY}`);
    expect(answer.body).toEqual(ofDates({ [DAY]: [4, 802, 0.25, 90] }));
  });

  it("are four empty maps without calls", async () => {
    const clinic = await anOrganization();
    expect(await ask(clinic)).toMatchObject({ status: 200, body: NO_CALLS });
    expect(await theDay(clinic)).toEqual(NO_CALLS);
  });

  it("leave an ongoing call out of the average duration until it ends", async () => {
    const { clinic, hold } = await aClinic();
    const key = await hold();
    expect(await theDay(clinic)).toEqual(ofDates({ [DAY]: [1, 0, 0, 0] }));
    await hold({ ended_at: at(100) });
    expect((await theDay(clinic)).average_duration).toEqual({ [DAY]: 100 });
    await given(reportCall(clinic, key, { ended_at: at(300) }));
    expect((await theDay(clinic)).average_duration).toEqual({ [DAY]: 200 });
  });

  it("are not rounded", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ ended_at: at(0.001), failed: false, participants: [aRecipient({ waiting_since: at(-1) })] });
    await hold({ ended_at: at(1), participants: [aRecipient({ waiting_since: at(-1) })] });
    await hold({ ended_at: at(1), failed: true, participants: [aRecipient({ waiting_since: at(-2.001) })] });
    const { average_duration, call_fail_rate, average_wait_time } = await theDay(clinic);
    expect(average_duration[DAY]).toBeCloseTo(2.001 / 3, 12);
    expect(call_fail_rate[DAY]).toBeCloseTo(1 / 3, 12);
    expect(average_wait_time[DAY]).toBeCloseTo(4.001 / 3, 12);
  });
});

describe("The average wait", () => {
  const waited = (seconds: number, more: object = {}) => aRecipient({ waiting_since: at(-seconds), ...more });

  it.each<[string, object[][], number]>([
    [
      "lasts from waiting_since to the start of the call, whenever the recipient joins",
      [[waited(60, { joined_at: at(40) })], [waited(60, { joined_at: at(-30) })], [waited(120)]],
      80,
    ],
    ["is 0 for a recipient who came after that", [[waited(-30, { joined_at: at(90) }), waited(60)]], 30],
    [
      "is not over providers or people without a waiting_since",
      [[aProviderOnTheCall({ waiting_since: at(-1000) }), aRecipient({ joined_at: at(500) }), waited(15)]],
      15,
    ],
    [
      "counts each recipient of a call, not each call",
      [[waited(10), waited(20), waited(30)], [waited(100)]],
      40,
    ],
  ])("%s", async (_, calls, average) => {
    const { clinic, hold } = await aClinic();
    for (const participants of calls) await hold({ participants });
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: average });
  });

  it("counts the waits for failed and for ongoing calls", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ participants: [waited(10)], failed: true, ended_at: at(60) });
    await hold({ participants: [waited(20)] });
    await hold({ participants: [waited(60)], ended_at: at(60) });
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 30 });
  });

  it("counts a person in the waiting room only after the person joined the call", async () => {
    const { clinic, room, hold } = await aClinic();
    const rita = unique("rita");
    await clinic.addParticipant(room.slug, { waiting_since: at(-30) }, rita);
    const key = await hold();
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 0 });
    await given(reportCall(clinic, key, { participants: [{ key: rita }] }));
    expect((await theDay(clinic)).average_wait_time).toEqual({ [DAY]: 30 });
  });

  it("follows corrections of a participant", async () => {
    const { clinic, room, hold } = await aClinic();
    const rita = aRecipient({ waiting_since: at(-30) });
    const key = await hold({ participants: [rita] });
    const average = async () => (await theDay(clinic)).average_wait_time[DAY];
    const correct = (more: object) =>
      given(reportCall(clinic, key, { participants: [{ key: rita.key, ...more }] }));
    await correct({ joined_at: at(30) });
    expect(await average()).toBe(30);
    await given(
      platform.put(`/waiting_rooms/${room.slug}/participants/${rita.key}`, {
        participant: { waiting_since: at(-40) },
      }),
    );
    expect(await average()).toBe(40);
    await correct({ waiting_since: null });
    expect(await average()).toBe(0);
    await correct({ waiting_since: at(-50) });
    expect(await average()).toBe(50);
    await correct({ role: "provider" });
    expect(await average()).toBe(0);
  });
});

describe("The date of a call", () => {
  it("is that of its start in UTC", async () => {
    const { clinic, hold } = await aClinic();
    await hold({ started_at: "2026-01-31T00:00:00.000Z" });
    await hold({ started_at: "2026-01-31T23:59:59.999Z" });
    await hold({ started_at: "2026-02-01T00:00:00.000Z" });
    await hold({ started_at: "2026-02-01T00:30:00.000+01:00" });
    await hold({ started_at: "2026-01-31T23:30:00.000-01:00" });
    expect((await metrics(clinic, `date_start=${DAY}&date_end=${NEXT_DAY}`)).total_calls).toEqual({
      [DAY]: 3,
      [NEXT_DAY]: 2,
    });
  });

  it("is that of its start, even if it ended on another date, or people waited for it on another date", async () => {
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

  it("moves when a report corrects the start, and a date that has no calls left is absent", async () => {
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

describe("The metrics of a range", () => {
  it("have every date with calls, including the first and the last, and no other dates", async () => {
    const { clinic, hold } = await aClinic();
    for (const day of ["2026-01-01", "2026-01-02", "2026-01-04", "2026-01-05"])
      await hold({ started_at: at(0, day), ended_at: at(60, day) });
    await hold({ started_at: at(0, "2026-01-04"), ended_at: at(120, "2026-01-04") });
    expect(await metrics(clinic, "date_start=2026-01-02&date_end=2026-01-04")).toEqual(
      ofDates({ "2026-01-02": [1, 60, 0, 0], "2026-01-04": [2, 90, 0, 0] }),
    );
  });

  it("can cover 3,660 dates, both ends included, and no more", async () => {
    const { clinic, hold } = await aClinic();
    for (const day of ["2016-01-01", "2026-01-07"]) await hold({ started_at: at(0, day) });
    expect(await dates(clinic, "date_start=2016-01-01&date_end=2026-01-07")).toEqual([
      "2016-01-01",
      "2026-01-07",
    ]);
    const tooLong = await ask(clinic, "?date_start=2016-01-01&date_end=2026-01-08");
    expectRefusal(tooLong, 400, /date_start.*3660/);
  });

  describe("on the last of March", () => {
    /** Calls just inside and just outside the ranges that begin or end on certain days. */
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
      ["are those of the last 30 days, including today, if no date is given", "", 5, 7],
      ["reach to today if only the start is given", "date_start=2026-01-31", 3, 7],
      ["reach to today if only the start is given, and is today", "date_start=2026-03-31", 6, 7],
      ["reach to today from a start that is further back", "date_start=2025-03-30", 0, 7],
      ["reach to today from the first date that they can", "date_start=2016-03-24", 0, 7],
      ["reach 30 days back from the end if only the end is given", "date_end=2026-03-01", 3, 5],
      ["reach 30 days back from the end of February", "date_end=2026-02-28", 2, 4],
      ["reach 30 days back from an end in the future", "date_end=2026-04-01", 6, 8],
      ["can begin and end in the future", "date_start=2026-04-01&date_end=2026-05-01", 7, 8],
      ["are of that day alone from a start in the future, without an end", "date_start=2026-04-01", 7, 8],
    ])("%s: %s", async (_, query, from, to) => {
      const { clinic, days } = await aClinicInMarch();
      expect(await dates(clinic, query)).toEqual(days.slice(from, to));
    });

    it("are refused from a start that is too far back: nothing is cut off", async () => {
      travelTo("2026-03-31T12:00:00Z");
      const clinic = await anOrganization();
      for (const start of ["2016-03-23", "0000-01-01"])
        expectRefusal(await ask(clinic, `?date_start=${start}`), 400, /date_start.*3660/);
    });

    it("use the UTC date for today", async () => {
      const { clinic } = await aClinicInMarch();
      travelTo("2026-04-01T00:00:00.000Z");
      expect(await dates(clinic, "")).toEqual(["2026-03-31", "2026-04-01"]);
      travelTo("2026-03-31T23:59:59.999Z");
      expect(await dates(clinic, "")).toEqual(["2026-03-02", "2026-03-31"]);
    });
  });
});

describe("The metrics of a user", () => {
  /** Two providers: one had two calls, and the other had one on the next day. */
  async function twoProviders() {
    const { clinic, provider, hold } = await aClinic();
    const other = await clinic.addProvider("Peter Provider");
    await hold({ ended_at: at(100), participants: [aRecipient({ waiting_since: at(-10) })] });
    await hold({ failed: true, participants: [aRecipient({ waiting_since: at(-20) })] });
    const theirs = await hold({
      organization_user_id: other.id,
      started_at: at(0, NEXT_DAY),
      ended_at: at(50, NEXT_DAY),
      participants: [aRecipient({ waiting_since: at(-40, NEXT_DAY) })],
    });
    return { clinic, provider, other, theirs };
  }

  const BOTH_DAYS = `date_start=${DAY}&date_end=${NEXT_DAY}`;

  it("are those of only the user's calls, and the users together give the organization's", async () => {
    const { clinic, provider, other } = await twoProviders();
    expect(await metrics(clinic, `${BOTH_DAYS}&user_id=${provider.user_id}`)).toEqual(
      ofDates({ [DAY]: [2, 100, 0.5, 15] }),
    );
    expect(await metrics(clinic, `${BOTH_DAYS}&user_id=${other.user_id}`)).toEqual(
      ofDates({ [NEXT_DAY]: [1, 50, 0, 40] }),
    );
    expect(await metrics(clinic, BOTH_DAYS)).toEqual(
      ofDates({ [DAY]: [2, 100, 0.5, 15], [NEXT_DAY]: [1, 50, 0, 40] }),
    );
    const nextDay = `date_start=${NEXT_DAY}&date_end=${NEXT_DAY}`;
    expect(await metrics(clinic, `${nextDay}&user_id=${provider.user_id}`)).toEqual(NO_CALLS);
  });

  it("are those of the last 30 days if no date is given", async () => {
    const { clinic, provider } = await twoProviders();
    travelTo(`${NEXT_DAY}T12:00:00Z`);
    expect(await dates(clinic, `user_id=${provider.user_id}`)).toEqual([DAY]);
    travelTo("2026-03-31T12:00:00Z");
    expect(await dates(clinic, `user_id=${provider.user_id}`)).toEqual([]);
  });

  it("follow a correction of who held the call", async () => {
    const { clinic, provider, other, theirs } = await twoProviders();
    const organizationBefore = await metrics(clinic, BOTH_DAYS);
    await given(reportCall(clinic, theirs, { organization_user_id: provider.id }));
    expect(await dates(clinic, `${BOTH_DAYS}&user_id=${provider.user_id}`)).toEqual([DAY, NEXT_DAY]);
    expect(await metrics(clinic, `${BOTH_DAYS}&user_id=${other.user_id}`)).toEqual(NO_CALLS);
    expect(await metrics(clinic, BOTH_DAYS)).toEqual(organizationBefore);
  });

  it("give 404 for a user of another organization and for an unknown user", async () => {
    const { clinic } = await twoProviders();
    const stranger = await aClinic();
    await stranger.hold();
    for (const user_id of [stranger.provider.user_id, 999_999_999])
      expectRefusal(await ask(clinic, `?${BOTH_DAYS}&user_id=${user_id}`), 404);
  });

  it.each(["9007199254740991", "99999999999999999999"])(
    "give 404 for %s, which is a positive integer but larger than any user's id",
    async (user_id) => {
      expectRefusal(await ask(await anOrganization(), `?user_id=${user_id}`), 404);
    },
  );
});

describe("A request for metrics", () => {
  it("is refused with two of its parameters at fault for both, and with one that comes twice", async () => {
    const clinic = await anOrganization();
    const both = await ask(clinic, "?date_start=2026-02-29&date_end=yesterday");
    expectRefusal(both, 400, /date_start.*date_end/);
    expectRefusal(await ask(clinic, "?user_id=1&user_id=2"), 400, "user_id: is given twice: give it once");
  });

  it("with an invalid range and an unknown user is refused for the range", async () => {
    const clinic = await anOrganization();
    expectRefusal(await ask(clinic, "?date_start=x&user_id=999999999"), 400, /date_start/);
    const reversed = `?date_start=${NEXT_DAY}&date_end=${DAY}&user_id=999999999`;
    expectRefusal(await ask(clinic, reversed), 400, /date_start/);
  });

  it("is allowed for every client of the organization, about every user", async () => {
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

  it("changes nothing", async () => {
    const clinic = await anOrganization();
    await aCall(clinic);
    await changingNothing(() => theDay(clinic));
  });
});
