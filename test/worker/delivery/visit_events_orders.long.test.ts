import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aLiveKitRoom, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { kinds, reportInRoom, toldOf } from "../support/participant_events.ts";

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

describe("Participant events of random visits", () => {
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
