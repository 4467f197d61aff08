import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { reportCall } from "../support/calls.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { countingRows } from "../support/rows.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { leavingNoRows } from "../support/unchanged.ts";

interface CallRow {
  id: number;
  organization_user_id: number;
  started_at: number;
  ended_at: number | null;
  end_is_assumed: number;
  failed: number;
}

interface ParticipantRow {
  call_id: number | null;
  role: string;
  waiting_since: number | null;
}

interface MetricsRow {
  organization_user_id: number;
  date: string;
  total_calls: number;
  failed_calls: number;
  ended_calls: number;
  duration_ms: number;
  waits: number;
  wait_ms: number;
}

type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never;

const WHOLE_ORGANIZATION = 0;
const DAY = 24 * 60;
const START = Date.parse("2026-01-31T23:00:00Z");

/** Moments in the hour before and after midnight, where mistakes with dates show. */
const aMoment = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 7_200_000 }))
  .map(([day, ms]) => START + day * 86_400_000 + ms);
const toTimestamp = (time: number) => new Date(time).toISOString();

/** Null clears a field and undefined leaves it out, so both stay as they are. */
const mapped = <T, R>(value: T | null | undefined, map: (value: T) => R) =>
  value === null || value === undefined ? value : map(value);

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const CALLS = 3;
const PEOPLE = 3;
const aCall = fc.integer({ min: 0, max: CALLS - 1 });
const aSlot = fc.integer({ min: 0, max: PEOPLE - 1 });
const aUser = fc.integer({ min: 0, max: 2 });
const aWhile = fc.integer({ min: 0, max: 100_000_000 });

const aPerson = fc.record({
  slot: aSlot,
  role: fc.constantFrom("recipient", "recipient", "provider"),
  waited: maybe(orNull(aWhile)),
  joinedAfter: maybe(orNull(aWhile)),
});

const somePeople = fc.uniqueArray(aPerson, { maxLength: 3, selector: ({ slot }) => slot });

const does = <Verb extends string, Rest>(verb: Verb, rest: { [K in keyof Rest]: fc.Arbitrary<Rest[K]> }) =>
  fc.tuple(aCall, fc.record<Rest>(rest)).map(([call, fields]) => ({ ...fields, call, does: verb }));

const column = (name: string, value: fc.Arbitrary<string | number | null>) =>
  fc.tuple(fc.constant(name), value);

/** Steps pick calls and people from small sets, so that they meet. */
const aStep = fc.oneof(
  {
    weight: 8,
    arbitrary: does("report", {
      user: aUser,
      started: aMoment,
      lasts: maybe(orNull(aWhile)),
      failed: maybe(orNull(fc.boolean())),
      people: maybe(somePeople),
    }),
  },
  {
    weight: 4,
    arbitrary: does("correct", {
      user: maybe(aUser),
      started: maybe(aMoment),
      ended: maybe(orNull(aMoment)),
      failed: maybe(orNull(fc.boolean())),
      people: maybe(somePeople),
    }),
  },
  { weight: 2, arbitrary: does("wait", { slot: aSlot, since: aMoment }) },
  { weight: 2, arbitrary: does("silence", {}) },
  // No request does this, but an operator with access to the database could.
  {
    weight: 3,
    arbitrary: does("set of call", {
      set: fc.oneof(
        column("organization_user_id", aUser),
        column("started_at", aMoment),
        column("ended_at", orNull(aMoment)),
        column("end_is_assumed", fc.constantFrom(0, 1)),
        column("failed", fc.constantFrom(0, 1)),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: does("set of participant", {
      slot: aSlot,
      set: fc.oneof(
        column("role", fc.constantFrom("recipient", "provider")),
        column("waiting_since", orNull(aMoment)),
        column("joined_at", orNull(aMoment)),
      ),
    }),
  },
  { weight: 1, arbitrary: does("move participant", { slot: aSlot, to: aCall }) },
  { weight: 1, arbitrary: does("delete participant", { slot: aSlot }) },
  { weight: 1, arbitrary: does("delete call with participants", {}) },
  { weight: 1, arbitrary: does("delete call", {}) },
);

type Step = ValueOf<typeof aStep>;

async function aScene() {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const users: { id: number }[] = [clinic.admin, await clinic.addProvider(), await clinic.addProvider()];
  const calls = Array.from({ length: CALLS }, () => unique("call"));
  const person = ({ call, slot }: { call: number; slot: number }) => `${calls[call]}-${slot}`;
  const d1 = (...queries: [string, ...unknown[]][]) =>
    env.DB.batch(queries.map(([query, ...values]) => env.DB.prepare(query).bind(...values)));

  const toParticipants = (call: number, started: number, people?: ValueOf<typeof aPerson>[]) =>
    people?.map(({ slot, role, waited, joinedAfter }) => ({
      key: person({ call, slot }),
      display_name: "Rita Recipient",
      role,
      waiting_since: mapped(waited, (ms) => toTimestamp(started - ms)),
      joined_at: mapped(joinedAfter, (ms) => toTimestamp(started + ms)),
    }));

  async function report(call: number, body: object) {
    const { status } = await reportCall(clinic, calls[call] ?? "", body);
    // A report may be refused, but must not fail otherwise, and a refused report must not count.
    expect([200, 422]).toContain(status);
  }

  async function perform(step: Step) {
    const call = calls[step.call];
    const itsId = "(select id from calls where key = ?)";
    switch (step.does) {
      case "report":
        return report(step.call, {
          waiting_room_slug: room.slug,
          organization_user_id: users[step.user]?.id,
          started_at: toTimestamp(step.started),
          ended_at: mapped(step.lasts, (ms) => toTimestamp(step.started + ms)),
          failed: step.failed,
          participants: toParticipants(step.call, step.started, step.people),
        });
      case "correct":
        return report(step.call, {
          organization_user_id: mapped(step.user, (n) => users[n]?.id),
          started_at: mapped(step.started, toTimestamp),
          ended_at: mapped(step.ended, toTimestamp),
          failed: step.failed,
          participants: toParticipants(step.call, START, step.people),
        });
      case "wait": {
        const participant = {
          display_name: "Rita",
          role: "recipient",
          waiting_since: toTimestamp(step.since),
        };
        const path = `/waiting_rooms/${room.slug}/participants/${person(step)}`;
        const { status } = await platform.put(path, { participant });
        return expect([200, 422]).toContain(status);
      }
      case "silence":
        travelTo(fromNow(DAY + 1));
        return workerWith({}).runCron();
      case "set of call": {
        const [name, value] = step.set;
        const written = name === "organization_user_id" ? users[Number(value)]?.id : value;
        return d1([`update calls set ${name} = ? where key = ?`, written, call]);
      }
      case "set of participant": {
        const [name, value] = step.set;
        return name === "role"
          ? d1([
              "update people set role = ? where id = (select person_id from participants where key = ?)",
              value,
              person(step),
            ])
          : d1([`update participants set ${name} = ? where key = ?`, value, person(step)]);
      }
      case "move participant":
        return d1([
          `update participants set call_id = coalesce(${itsId}, call_id) where key = ?`,
          calls[step.to],
          person(step),
        ]);
      case "delete participant":
        return d1(["delete from participants where key = ?", person(step)]);
      case "delete call with participants":
        return d1(
          [`delete from participants where call_id = ${itsId}`, call],
          ["delete from calls where key = ?", call],
        );
      case "delete call":
        return d1(
          [`update participants set call_id = null where call_id = ${itsId}`, call],
          ["delete from calls where key = ?", call],
        );
    }
  }

  const rows = async <Row>(table: string) =>
    (await env.DB.prepare(`select * from ${table} where organization_id = ?`).bind(clinic.id).all<Row>())
      .results;

  return {
    perform,
    async expectRollUpToAgree() {
      const [kept, calls, participants] = await Promise.all([
        rows<MetricsRow & { organization_id: number }>("call_daily_metrics"),
        rows<CallRow>("calls"),
        rows<ParticipantRow>(
          "(select p.*, people.role from participants p join people on people.id = p.person_id)",
        ),
      ]);
      const shown = kept.filter(({ total_calls }) => total_calls > 0);
      expect(byKey(shown.map(({ organization_id: _, ...row }) => row))).toEqual(
        aggregate(calls, participants),
      );
      // A date without calls must have only zeros.
      for (const { organization_id, organization_user_id, date, ...sums } of kept.filter(
        ({ total_calls }) => total_calls <= 0,
      ))
        expect(Object.values(sums)).toEqual([0, 0, 0, 0, 0, 0]);
      return calls;
    },
  };
}

const keyOf = ({ organization_user_id, date }: MetricsRow) => `${organization_user_id} ${date}`;

const byKey = (rows: MetricsRow[]) => Object.fromEntries(rows.map((row) => [keyOf(row), row]));

/** The expected roll-up, computed from the calls and participants. */
function aggregate(calls: CallRow[], participants: ParticipantRow[]) {
  const sums = new Map<string, MetricsRow>();
  for (const call of calls)
    for (const organization_user_id of [WHOLE_ORGANIZATION, call.organization_user_id]) {
      const row: MetricsRow = {
        organization_user_id,
        date: new Date(call.started_at).toISOString().slice(0, 10),
        total_calls: 0,
        failed_calls: 0,
        ended_calls: 0,
        duration_ms: 0,
        waits: 0,
        wait_ms: 0,
      };
      const sum = sums.get(keyOf(row)) ?? row;
      sums.set(keyOf(row), sum);
      sum.total_calls++;
      if (call.failed) sum.failed_calls++;
      if (call.ended_at !== null && !call.end_is_assumed) {
        sum.ended_calls++;
        sum.duration_ms += call.ended_at - call.started_at;
      }
      for (const { call_id, role, waiting_since } of participants) {
        if (call_id !== call.id || role !== "recipient" || waiting_since === null) continue;
        sum.waits++;
        sum.wait_ms += Math.max(0, call.started_at - waiting_since);
      }
    }
  return byKey([...sums.values()]);
}

it("The roll-up of call metrics agrees with the calls after every step of any random story", async () => {
  let [callsSeen, assumedSeen] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 15, maxLength: 25 }), async (steps) => {
      const { perform, expectRollUpToAgree } = await aScene();
      for (const step of steps) {
        await perform(step);
        const calls = await expectRollUpToAgree();
        callsSeen += calls.length;
        assumedSeen += calls.filter(({ end_is_assumed }) => end_is_assumed).length;
      }
    }),
    { numRuns: 30 },
  );
  expect(callsSeen).toBeGreaterThan(0);
  expect(assumedSeen).toBeGreaterThan(0);
});

describe("GET /call_metrics over a year of 100,000 calls", () => {
  const CALLS_OF_A_YEAR = 100_000;
  const DAYS = 366;
  const YEAR = "date_start=2024-01-01&date_end=2024-12-31";

  /** Half of the calls belong to the provider, the other half to the administrator. Every day has calls of both. */
  async function aClinicOfManyCalls() {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider();
    const room = await clinic.addRoom();
    leavingNoRows(clinic.id, "calls", "call_daily_metrics", "events");
    await env.DB.prepare(
      `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at,
        failed, created_at, updated_at)
      with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ?1 - 1)
      select ?2, ?3 || n, iif(n / 366 % 2, ?4, ?5), ?6, ?7 + n % 366 * 86400000, ?7 + n % 366 * 86400000 + 60000,
        n % 10 = 0, 0, 0
      from numbers`,
    )
      .bind(
        CALLS_OF_A_YEAR,
        clinic.id,
        unique("call"),
        provider.id,
        clinic.admin.id,
        room.id,
        Date.parse("2024-01-01T12:00:00Z"),
      )
      .run();
    // Makes the client known, so that its look-up reads no rows below.
    await given(clinic.client.get("/call_metrics"));
    const counted = await env.DB.prepare("select count(*) as n from calls where organization_user_id = ?")
      .bind(provider.id)
      .first<{ n: number }>();
    return { clinic, provider, callsOfProvider: counted?.n };
  }

  it("reads one row per date, for the organization and for a user", { timeout: 120_000 }, async () => {
    const { clinic, provider, callsOfProvider } = await aClinicOfManyCalls();
    const counting = countingRows();
    const client = clinic.client.through(counting.fetcher);
    const ask = (query: string) => counting.during(() => given(client.get(`/call_metrics?${query}`)));
    const total = ({ total_calls }: { total_calls: Record<string, number> }) =>
      Object.values(total_calls).reduce((sum, calls) => sum + calls, 0);

    const ofAll = await ask(YEAR);
    expect(Object.keys(ofAll.result.total_calls)).toHaveLength(DAYS);
    expect(total(ofAll.result)).toBe(CALLS_OF_A_YEAR);
    expect(ofAll.rows_read).toBeGreaterThanOrEqual(DAYS);
    expect(ofAll.rows_read).toBeLessThanOrEqual(DAYS + 10);

    const ofOne = await ask(`${YEAR}&user_id=${provider.user_id}`);
    expect(Object.keys(ofOne.result.total_calls)).toHaveLength(DAYS);
    expect(total(ofOne.result)).toBe(callsOfProvider);
    expect(ofOne.rows_read).toBeGreaterThanOrEqual(DAYS);
    expect(ofOne.rows_read).toBeLessThanOrEqual(DAYS + 10);
  });
});
