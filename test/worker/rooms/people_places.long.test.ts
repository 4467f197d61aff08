import { describe, expect, it } from "vitest";
import { entriesAbout } from "../support/access_logs.ts";
import { platform } from "../support/api.ts";
import { ENDED_AT, reportCall, STARTED_AT, WAITING_SINCE } from "../support/calls.ts";
import { contradictionsIn } from "../support/contradictions.ts";
import { everyRowAsText, rowsOf } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { aLiveKitRoom, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { keyOf, planVisit } from "../support/visits.ts";

/*
 * A person can be in two places at once. Whatever the places, their order, and what was said where: the person is corrected, looked up
 * and erased in both. Places share a record if they have the key of one visit, or the same participant; others only share a reference.
 */

const PLACES = ["visit", "wait", "call", "further call", "LiveKit's room", "call without a visit"] as const;

type Place = (typeof PLACES)[number];

interface Said {
  display_name?: string;
  external_reference?: string;
}

const PAIRS = PLACES.flatMap((first) =>
  PLACES.filter((second) => second !== first).map((second) => [first, second] as const),
);

/** The fields that one place says, that place, and whether the person is erased before the second place is reported. */
const CELLS = ["name", "reference", "both"].flatMap((what) =>
  [0, 1].flatMap((where) => [false, true].map((isErasedBetween) => ({ what, where, isErasedBetween }))),
);

const UNNAMED = { role: "recipient", display_name: "Somebody" };

/** A visit of one person, and what each place can say of them. */
async function aPerson(clinic: Organization, slug: string, first: Place, second: Place) {
  const visit = await planVisit(clinic, slug, { participants: [UNNAMED] });
  const isAlone = [first, second].includes("call without a visit");
  const room = await aLiveKitRoom(clinic);
  const own = unique("rita");
  /** A participant who was on a call waits again under another key. */
  const waitsAgain = second === "wait" && first !== "visit";
  /** Whether the two places share a record. */
  const isOne = !isAlone || [first, second].includes("LiveKit's room") || first === "wait";
  const keys: Record<Place, string> = {
    visit: keyOf(visit),
    wait: `${waitsAgain ? "3rd:" : ""}${isAlone ? own : keyOf(visit)}`,
    call: `${first === "LiveKit's room" ? "2nd:" : ""}${keyOf(visit)}`,
    "further call": `2nd:${keyOf(visit)}`,
    "LiveKit's room": isAlone ? own : keyOf(visit),
    "call without a visit": own,
  };
  const paths = new Map<Place, string>();
  const callKeys = new Map<Place, string>();

  async function tellCall(place: Place, said: Said, isOver: boolean) {
    const call_key =
      callKeys.get(place) ?? (place === "call without a visit" && isAlone ? room.sid : unique("call"));
    callKeys.set(place, call_key);
    const name = place === "call without a visit" ? UNNAMED : { role: "recipient" };
    const participants = [{ key: keys[place], ...name, ...said }];
    const owner = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
    const end = isOver && { ended_at: ENDED_AT };
    const call = await given(
      reportCall(clinic, call_key, { ...owner, started_at: STARTED_AT, ...end, participants }),
    );
    paths.set(place, `/organization_users/${room.owner.id}/calls/${call.id}`);
  }

  async function tellLiveKit({ display_name: name = "", external_reference = "" }: Said, isOver: boolean) {
    const identity = keys["LiveKit's room"];
    const person = { name, attributes: { external_reference } };
    const events = [room.joined(identity, 1, person), room.left(identity, 2, 1, person), room.finished(3)];
    await delivered(isOver ? events : events.slice(0, 1));
    const { calls } = await given(clinic.client.get(`/organization_users/${room.owner.id}/calls`));
    for (const { id } of calls) {
      const path = `/organization_users/${room.owner.id}/calls/${id}`;
      if (![...paths.values()].includes(path)) paths.set("LiveKit's room", path);
    }
  }

  return {
    visit,
    isOne,
    /** Whether one of the places belongs to the visit. */
    isPlanned: !isAlone || [first, second].some((place) => /^(visit|call|further call)$/.test(place)),
    /** False for a wait that leads to the call: it ends with the call. */
    staysInPlace: first !== "wait" || second === "visit" || new Set([keys[first], keys[second]]).size > 1,
    /** Whether a report of the second place is about the record that was erased. */
    staysErased: isOne && !isAlone,
    tell(place: Place, said: Said, isOver: boolean) {
      const left = isOver && { left_at: STARTED_AT };
      if (place === "visit") return correctVisit(said);
      if (place === "LiveKit's room") return tellLiveKit(said, isOver);
      if (place !== "wait") return tellCall(place, said, isOver);
      const participant = { ...UNNAMED, waiting_since: WAITING_SINCE, ...left, ...said };
      return given(
        platform.put(`/waiting_rooms/${slug}/participants/${encodeURIComponent(keys.wait)}`, {
          participant,
        }),
      );
    },
    correctVisit,
    /** The participants of all calls. */
    onCalls: () =>
      Promise.all(
        [...paths.values()].map(async (path) => {
          const answer = await clinic.client.get(`${path}/participants`);
          const [{ id }] = answer.body.participants;
          return { answer, path: `${path}/participants/${id}` };
        }),
      ),
    own,
  };

  function correctVisit(said: Said) {
    const participants = [{ id: visit.participants[0]?.id, ...said }];
    return given(clinic.client.put(`/visits/${visit.id}`, { visit: { participants } }));
  }
}

describe.each(PAIRS)("A person in a %s, then in a %s", (first, second) => {
  it("is corrected, looked up and erased in both, whatever was said where", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const other = await anOrganization();
    const theirRoom = await other.addRoom();

    const everybody: string[] = [];

    async function erase(reference: string) {
      const counts = [];
      do
        counts.push(
          await given(clinic.client.delete(`/participants?external_reference=${reference}&texts=true`)),
        );
      while (counts.at(-1).remaining_count > 0);
      return counts.at(-1);
    }

    const found = async (reference: string): Promise<string[]> =>
      (
        await given(clinic.client.get(`/access_logs?per_page=100&external_reference=${reference}`))
      ).access_logs.map(({ request_id }: { request_id: string }) => request_id);

    for (const [n, { what, where, isErasedBetween }] of CELLS.entries()) {
      const cell = `${what} said ${where === 0 ? "first" : "second"}, erased between: ${isErasedBetween}`;
      const names = [unique("Rita"), unique("Rosa")] as const;
      const references = [unique("patient"), unique("patient")] as const;
      const whole = { display_name: names[0], external_reference: references[0] };
      const said: Said = {
        ...(what !== "reference" && { display_name: names[0] }),
        ...(what !== "name" && { external_reference: references[0] }),
      };
      await planVisit(other, theirRoom.slug, { participants: [{ ...UNNAMED, ...whole }] });
      const theirs = await rowsOf(other.id);
      const rita = await aPerson(clinic, slug, first, second);
      const personal = [...names, ...references, rita.own];
      everybody.push(...personal);
      const number = { external_reference: references[0] };
      const saidIn = (place: number) => (where === place ? said : {});
      // Without a record in common, only the reference leads from one place to the other.
      const linked = rita.isOne ? {} : number;
      const isOver = isErasedBetween || n % 4 < 2;
      await rita.tell(first, { ...saidIn(0), ...linked }, isOver);
      if (isErasedBetween) {
        await rita.tell(first, number, true);
        await erase(references[0]);
        if (second !== "visit" || !rita.staysErased)
          await rita.tell(second, { ...saidIn(1), ...(!rita.staysErased && number) }, true);
      } else {
        await rita.tell(second, { ...saidIn(1), ...linked }, isOver);
        const reads = rita.isPlanned ? [await clinic.client.get("/visits?per_page=100")] : [];
        for (const { answer } of await rita.onCalls()) reads.push(answer);
        const corrected = { display_name: names[1], external_reference: references[1] };
        await rita.correctVisit(corrected);
        for (const { path } of await rita.onCalls())
          await given(clinic.client.put(path, { participant: corrected }));
        for (const { answer } of await rita.onCalls())
          expect([cell, answer.body.participants]).toMatchObject([cell, [corrected]]);
        const ids = reads.map(({ headers }) => headers.get("X-Request-Id"));
        for (const reference of rita.isOne && what === "name" ? [references[1]] : references)
          expect([cell, await found(reference)]).toEqual([cell, expect.arrayContaining(ids)]);
        if (!isOver) {
          const { ongoing_count } = await erase(references[1]);
          expect([cell, ongoing_count > 0]).toEqual([cell, true]);
          // The end of the call ends a wait that led to it.
          if (rita.staysInPlace) await rita.tell(first, {}, true);
          await rita.tell(second, {}, true);
        }
      }
      // A planned person who was only in the visit has the number of the correction.
      for (const reference of n % 2 ? [...references] : [...references].reverse())
        expect([cell, await erase(reference)]).toMatchObject([cell, { held_count: 0, ongoing_count: 0 }]);
      const isGone = async () => {
        const stored = JSON.stringify(await rowsOf(clinic.id));
        expect([cell, personal.filter((text) => stored.includes(text))]).toEqual([cell, []]);
      };
      await isGone();
      expect([cell, await contradictionsIn(clinic)]).toEqual([cell, []]);
      for (const place of [first, second])
        if (place !== "visit") await rita.tell(place, whole, true);
        else
          expectRefusal(
            await clinic.client.put(`/visits/${rita.visit.id}`, {
              visit: { participants: [{ id: rita.visit.participants[0]?.id, ...whole }] },
            }),
            422,
          );
      await isGone();
      expect(await rowsOf(other.id)).toEqual(theirs);
    }
    expect(await contradictionsIn(clinic)).toEqual([]);
    const erased = (await entriesAbout(clinic, "delete", "participant")).map(
      ({ resource_id }) => resource_id,
    );
    expect(new Set(erased).size).toBe(erased.length);
    // In all tables, only the other organization's rows name them.
    const [stored, theirs] = await Promise.all([everyRowAsText(), rowsOf(other.id)]);
    const timesIn = (rows: unknown, text: string) => JSON.stringify(rows).split(text).length;
    for (const text of everybody)
      expect([text, timesIn(stored, text)]).toEqual([text, timesIn(theirs, text)]);
  });
});
