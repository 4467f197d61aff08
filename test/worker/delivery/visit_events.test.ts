import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CALL_PARTICIPANTS, MAX_WEBHOOK_ENDPOINTS } from "../../../src/limits.ts";
import { platform } from "../support/api.ts";
import {
  aCall,
  aRecipient,
  ENDED_AT,
  minutesAfterStart,
  STARTED_AT,
  WAITING_SINCE,
} from "../support/calls.ts";
import { aLiveKitRoom, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { leavingNoRows } from "../support/unchanged.ts";

const DAY = 24 * 60;

interface Event {
  type: string;
  data: { waiting_room_id: number; participant_id: number };
}

/** The participant events that `work` causes. */
async function toldOf({ client }: Organization, work: () => Promise<unknown>): Promise<Event[]> {
  const all = async () => (await given(client.get("/events?type=participant.*&per_page=100"))).events;
  const before = (await all()).length;
  await work();
  return (await all()).slice(before).map(({ type, data }: Event) => ({ type, data }));
}

const kinds = (events: Event[]) => events.map(({ type }) => type.replace("participant.", ""));

const reportInRoom = (slug: string, key: string, participant: object) =>
  platform.put(`/waiting_rooms/${slug}/participants/${key}`, { participant });

describe("Events of a waiting participant", () => {
  it("are one participant.waiting and one participant.left per visit, however often it is reported", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const key = unique("rita");
    const said = { display_name: "Rita", role: "recipient" };
    const during = (participant: object) =>
      toldOf(clinic, () => given(reportInRoom(room.slug, key, { ...said, ...participant })));
    const [waiting, ...more] = await during({ waiting_since: minutesAfterStart(0) });
    const data = { waiting_room_id: room.id, participant_id: expect.any(Number) };
    expect([waiting, ...more]).toEqual([{ type: "participant.waiting", data }]);
    expect(await during({ waiting_since: minutesAfterStart(0) })).toEqual([]);
    expect(await during({ waiting_since: minutesAfterStart(1), display_name: "Rita R." })).toEqual([]);
    const left = await during({ left_at: minutesAfterStart(5) });
    expect(left).toEqual([{ type: "participant.left", data: waiting?.data }]);
    expect(await during({ left_at: minutesAfterStart(4) })).toEqual([]);
    expect(await during({ waiting_since: minutesAfterStart(1), left_at: null })).toEqual([]);
    expect(kinds(await during({ waiting_since: minutesAfterStart(7) }))).toEqual(["waiting"]);
    expect(await during({ waiting_since: minutesAfterStart(0), left_at: minutesAfterStart(5) })).toEqual([]);
    expect(kinds(await during({ left_at: minutesAfterStart(9) }))).toEqual(["left"]);
    const whole = { waiting_since: minutesAfterStart(10), left_at: minutesAfterStart(11) };
    expect(kinds(await during(whole))).toEqual(["waiting", "left"]);
    expect(await during(whole)).toEqual([]);
  });

  it("name the other room after a move, even for a visit that is over when it is reported", async () => {
    const clinic = await anOrganization();
    const [here, there] = [await clinic.addRoom(), await clinic.addRoom()];
    const { key, id: participant_id } = await clinic.addParticipant(here.slug, {
      waiting_since: minutesAfterStart(0),
    });
    const during = (slug: string, participant: object) =>
      toldOf(clinic, () => given(reportInRoom(slug, key, participant)));
    const event = (type: string, room: { id: number }) => ({
      type: `participant.${type}`,
      data: { waiting_room_id: room.id, participant_id },
    });
    expect(await during(there.slug, { waiting_since: minutesAfterStart(2) })).toEqual([
      event("waiting", there),
    ]);
    expect(await during(here.slug, { waiting_since: minutesAfterStart(0) })).toEqual([]);
    expect(await during(there.slug, { left_at: minutesAfterStart(3) })).toEqual([event("left", there)]);
    const visit = { waiting_since: minutesAfterStart(5), left_at: minutesAfterStart(6) };
    expect(await during(here.slug, visit)).toEqual([event("waiting", here), event("left", here)]);
    await during(here.slug, { waiting_since: minutesAfterStart(10) });
    const unseen = { waiting_since: minutesAfterStart(12), left_at: minutesAfterStart(13) };
    expect(await during(there.slug, unseen)).toEqual([event("waiting", there), event("left", there)]);
  });

  it("include participant.left when the room's owner is removed, and participant.waiting when the room is back", async () => {
    const clinic = await anOrganization();
    const { id, email, waiting_room_slug } = await clinic.addProvider();
    const key = unique("rita");
    const said = { display_name: "Rita", role: "recipient" };
    const waits = (waiting_since: string) =>
      given(reportInRoom(waiting_room_slug, key, { ...said, waiting_since }));
    expect(kinds(await toldOf(clinic, () => waits(fromNow(-2))))).toEqual(["waiting"]);
    expect(kinds(await toldOf(clinic, () => given(clinic.platform.delete(`/users/${id}`))))).toEqual([
      "left",
    ]);
    await clinic.addUser("Paula Provider", ["provider"], { email });
    travelTo(fromNow(2));
    expect(kinds(await toldOf(clinic, () => waits(fromNow(0))))).toEqual(["waiting"]);
  });

  it("include participant.left after a day without reports, and participant.waiting for a later visit", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const { key, waiting_since } = await clinic.addParticipant(room.slug);
    travelTo(fromNow(DAY + 1));
    const gone = await toldOf(clinic, async () => {
      await workerWith({}).runCron();
      await workerWith({}).runCron();
    });
    expect(kinds(gone)).toEqual(["left"]);
    const late = { waiting_since, left_at: fromNow(-DAY) };
    expect(await toldOf(clinic, () => given(reportInRoom(room.slug, key, late)))).toEqual([]);
    const again = await toldOf(clinic, () =>
      given(reportInRoom(room.slug, key, { waiting_since: fromNow(0) })),
    );
    expect(kinds(again)).toEqual(["waiting"]);
  });

  it("do not include the erasure, after which the same person is a new participant", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    await given(
      platform.put(`/organizations/${clinic.id}`, { organization: { participant_retention_days: 1 } }),
    );
    const visit = { waiting_since: minutesAfterStart(0), left_at: minutesAfterStart(5) };
    const { key, id } = await clinic.addParticipant(room.slug, visit);
    const said = { display_name: "Rita", role: "recipient" };
    const erased = await toldOf(clinic, async () => {
      await workerWith({}).runCron();
      await given(reportInRoom(room.slug, key, visit));
    });
    expect(erased).toEqual([]);
    const back = await toldOf(clinic, () =>
      given(reportInRoom(room.slug, key, { ...said, waiting_since: minutesAfterStart(9) })),
    );
    expect(kinds(back)).toEqual(["waiting"]);
    expect(back[0]?.data.participant_id).not.toBe(id);
  });
});

describe("Events of a participant on a call", () => {
  it("are waiting, joined and left, once each, even if one report has all the times, with the ids of the call", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT });
    let call: Awaited<ReturnType<typeof aCall>> | undefined;
    const told = await toldOf(clinic, async () => {
      call = await aCall(clinic, { participants: [rita] });
      await given(call.report({ ended_at: ENDED_AT, participants: [rita] }));
    });
    const data = {
      waiting_room_id: call?.room.id,
      participant_id: expect.any(Number),
      call_id: call?.id,
      organization_user_id: call?.owner.id,
    };
    const types = ["participant.waiting", "participant.joined", "participant.left"];
    expect(told).toEqual(types.map((type) => ({ type, data })));
  });

  it("leave out participant.waiting if they came after joining, and participant.joined without a join time", async () => {
    const clinic = await anOrganization();
    const during = (participant: object) =>
      toldOf(clinic, () => aCall(clinic, { ended_at: null, participants: [aRecipient(participant)] }));
    expect(kinds(await during({ waiting_since: STARTED_AT, joined_at: STARTED_AT }))).toEqual(["joined"]);
    expect(kinds(await during({ waiting_since: ENDED_AT, joined_at: STARTED_AT }))).toEqual(["joined"]);
    expect(kinds(await during({ waiting_since: STARTED_AT }))).toEqual(["waiting"]);
    expect(await during({})).toEqual([]);
  });

  it("include another joined after they leave, and a cleared time that is reported again, but no late report", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient();
    const call = await aCall(clinic, { ended_at: null, participants: [rita] });
    const during = async (participant: object) =>
      kinds(
        await toldOf(clinic, () => given(call.report({ participants: [{ key: rita.key, ...participant }] }))),
      );
    const first = { joined_at: minutesAfterStart(1), left_at: minutesAfterStart(5) };
    expect(await during({ waiting_since: WAITING_SINCE, joined_at: first.joined_at })).toEqual([
      "waiting",
      "joined",
    ]);
    expect(await during({ joined_at: minutesAfterStart(2) })).toEqual([]);
    expect(await during({ joined_at: null, waiting_since: null })).toEqual([]);
    expect(await during({ joined_at: first.joined_at, waiting_since: WAITING_SINCE })).toEqual([
      "waiting",
      "joined",
    ]);
    expect(await during(first)).toEqual(["left"]);
    expect(await during({ joined_at: minutesAfterStart(7) })).toEqual(["joined"]);
    expect(await during(first)).toEqual([]);
    const present = await given(reportInRoom(call.room.slug, rita.key, {}));
    expect(present).toMatchObject({ joined_at: minutesAfterStart(7), left_at: null });
    expect(await during({ left_at: minutesAfterStart(9) })).toEqual(["left"]);
    expect(await during(first)).toEqual([]);
    const whole = { joined_at: minutesAfterStart(11), left_at: minutesAfterStart(12) };
    expect(await during(whole)).toEqual(["joined", "left"]);
    expect(await during(whole)).toEqual([]);
  });

  it("include participant.left once when the call ends, even if the end was assumed before it was reported", async () => {
    const clinic = await anOrganization();
    const people = [1, 2, 3].map((minutes) => aRecipient({ joined_at: minutesAfterStart(minutes) }));
    const call = await aCall(clinic, { ended_at: null, participants: people });
    const [first, second, third] = people.map(({ key }) => key);
    await given(call.report({ participants: [{ key: first, left_at: minutesAfterStart(4) }] }));
    travelTo(fromNow(DAY + 1));
    const during = async (work: () => Promise<unknown>) => kinds(await toldOf(clinic, work));
    expect(await during(() => workerWith({}).runCron())).toEqual(["left", "left"]);
    const late = [
      { key: second, joined_at: minutesAfterStart(6) },
      { key: third, left_at: minutesAfterStart(7) },
    ];
    expect(await during(() => given(call.report({ participants: late })))).toEqual([]);
    expect(await during(() => given(call.report({ ended_at: ENDED_AT })))).toEqual([]);
    expect(await during(() => given(call.report({ participants: [aRecipient()] })))).toEqual(["left"]);
  });
});

/**
 * Rita's visit as it really happens. She waits in one room after the other, and leaves some of them. On the call
 * she joins and leaves, perhaps more than once, and perhaps she is still there when it ends.
 */
interface Story {
  waits: { leaves: boolean }[];
  stays: number;
  isThereAtTheEnd: boolean;
}

type Fact = { kind: "waiting" | "joined" | "left" | "end"; at: number; since?: number; room?: number };

const stories = fc.record<Story>({
  waits: fc.array(fc.record({ leaves: fc.boolean() }), { maxLength: 3 }),
  stays: fc.integer({ min: 1, max: 3 }),
  isThereAtTheEnd: fc.boolean(),
});

/** The facts of a story, ten seconds apart. The call starts at 0. */
function factsOf({ waits, stays, isThereAtTheEnd }: Story): Fact[] {
  let clock = -100;
  const next = () => (clock += 10);
  const inRooms = waits.flatMap(({ leaves }, room): Fact[] => {
    const waiting: Fact = { kind: "waiting", at: next(), room };
    return leaves ? [waiting, { kind: "left", at: next(), room }] : [waiting];
  });
  clock = 0;
  const onCall = Array.from({ length: stays }).flatMap((_, n): Fact[] => {
    const joined: Fact = { kind: "joined", at: next() };
    const stays_on = isThereAtTheEnd && n === stays - 1;
    return stays_on ? [joined] : [joined, { kind: "left", at: next(), since: joined.at }];
  });
  return [...inRooms, ...onCall, { kind: "end", at: next() }];
}

/** The specification: one event for each fact. The end of the call is an event if Rita is still there. */
function eventsOf(facts: Fact[]): string[] {
  return facts.flatMap(({ kind }, n) =>
    kind !== "end" ? [kind] : facts[n - 1]?.kind === "joined" ? ["left"] : [],
  );
}

/** A report of a fact: its source, and how far the platform's clock is off, less than the time between two facts. */
interface Saying {
  fact: number;
  by: "platform" | "livekit";
  off: number;
}

const sayings = fc.record<Saying>({
  fact: fc.nat({ max: 20 }),
  by: fc.constantFrom("platform", "livekit"),
  off: fc.constantFrom(0, 0, 1, 2, -1),
});

/** Rita's visit. `say` reports one of its facts, and may be refused if the report contradicts what is known. */
async function aVisit(facts: Fact[]) {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic);
  const rooms = [room.waitingRoom, await clinic.addRoom(), await clinic.addRoom()];
  const began = {
    waiting_room_slug: room.waitingRoom.slug,
    organization_user_id: room.owner.id,
    started_at: at(0),
  };
  await given(platform.put(room.url, { call: began }));
  const key = unique("rita");
  const rita = { display_name: "Rita", role: "recipient" };
  const times = ({ kind, at: time, since }: Fact, off: number) => {
    if (kind === "waiting") return { waiting_since: at(time + off) };
    if (kind === "joined") return { joined_at: at(time + off) };
    return { ...(since !== undefined && { joined_at: at(since + off) }), left_at: at(time + off) };
  };
  const unlessRefused = async (answer: ReturnType<typeof platform.put>) =>
    expect([200, 422]).toContain((await answer).status);
  async function say({ fact, by, off }: Saying) {
    const said = facts[fact % facts.length] as Fact;
    if (said.room !== undefined)
      await unlessRefused(reportInRoom(rooms[said.room]?.slug, key, { ...rita, ...times(said, off) }));
    else if (by === "livekit")
      await delivered([
        said.kind === "end"
          ? room.finished(said.at)
          : said.kind === "joined"
            ? room.joined(key, said.at, { name: "Rita" })
            : room.left(key, said.at, said.since ?? 0, { name: "Rita" }),
      ]);
    else {
      const report =
        said.kind === "end"
          ? { ended_at: at(said.at + off) }
          : { participants: [{ key, ...rita, ...times(said, off) }] };
      await unlessRefused(platform.put(room.url, { call: report }));
    }
  }
  return { clinic, say, known: () => reportInRoom(room.waitingRoom.slug, key, {}) };
}

const counts = (all: string[]) =>
  ["waiting", "joined", "left"].map((kind) => all.filter((each) => each === kind).length);

describe("Events of a call with the maximum number of participants", () => {
  it("are delivered for each of them to every endpoint that wants them", async () => {
    const clinic = await anOrganization();
    const endpoint = (event_types?: string[]) => ({
      webhook_endpoint: { url: "https://hooks.example.com/visits", ...(event_types && { event_types }) },
    });
    for (let n = 0; n < MAX_WEBHOOK_ENDPOINTS; n++)
      await given(clinic.client.post("/webhook_endpoints", endpoint(n % 2 ? ["participant.*"] : undefined)));
    const times = { waiting_since: WAITING_SINCE, joined_at: STARTED_AT };
    const participants = Array.from({ length: MAX_CALL_PARTICIPANTS }, () => aRecipient(times));
    await aCall(clinic, { participants }, clinic.admin);
    const { results } = await env.DB.prepare(
      `select type, count(distinct event_id) as events, count(*) as deliveries
       from webhook_deliveries join events on events.id = event_id
       where events.organization_id = ? and type like 'participant.%' group by type`,
    )
      .bind(clinic.id)
      .all();
    const each = { events: MAX_CALL_PARTICIPANTS, deliveries: MAX_CALL_PARTICIPANTS * MAX_WEBHOOK_ENDPOINTS };
    expect(results).toEqual(
      ["participant.joined", "participant.left", "participant.waiting"].map((type) => ({ type, ...each })),
    );
    leavingNoRows(clinic.id, "webhook_deliveries", "events");
  });
});

describe("Participant events of random visits", { timeout: 120_000 }, () => {
  const runs = { numRuns: 25 };

  it("come once and in order, from any source, even if a time is repeated or corrected", async () => {
    const story = fc.tuple(
      stories,
      fc.array(sayings, { minLength: 12, maxLength: 12 }),
      fc.array(sayings, { maxLength: 12 }),
    );
    await fc.assert(
      fc.asyncProperty(story, async ([story, firsts, repeats]) => {
        const facts = factsOf(story);
        const { clinic, say } = await aVisit(facts);
        const told = await toldOf(clinic, async () => {
          for (const n of facts.keys()) {
            await say({ ...(firsts[n] as Saying), fact: n, off: 0 });
            // Some of the facts so far are reported again.
            for (const each of repeats.filter((_, other) => other % facts.length === n))
              await say({ ...each, fact: each.fact % (n + 1) });
          }
        });
        expect(kinds(told)).toEqual(eventsOf(facts));
      }),
      runs,
    );
  });

  it("come at most once for a fact, and at least once for every known time, in any order of reports", async () => {
    await fc.assert(
      fc.asyncProperty(stories, fc.array(sayings, { maxLength: 24 }), async (story, said) => {
        const facts = factsOf(story);
        const { clinic, say, known } = await aVisit(facts);
        const told = await toldOf(clinic, async () => {
          for (const each of said) await say({ ...each, off: 0 });
        });
        const happened = counts(eventsOf(facts));
        for (const [n, count] of counts(kinds(told)).entries())
          expect(count).toBeLessThanOrEqual(happened[n] as number);
        const { status, body } = await known();
        const { waiting_since, joined_at, left_at } = status === 200 ? body : {};
        const waits = waiting_since && (!joined_at || waiting_since < joined_at);
        const isKnown = [waits && "waiting", joined_at && "joined", left_at && "left"].filter(Boolean);
        expect(kinds(told)).toEqual(expect.arrayContaining(isKnown));
      }),
      runs,
    );
  });
});
