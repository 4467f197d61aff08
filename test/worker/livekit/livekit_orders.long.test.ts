import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aLiveKitRoom, at, DisconnectReason, delivered, shownCalls } from "../support/livekit.ts";
import { anOrganization, type Organization } from "../support/organization.ts";

type LiveKitRoom = Awaited<ReturnType<typeof aLiveKitRoom>>;

describe("Shuffled LiveKit events of two organizations", () => {
  const text = fc.constantFrom("", "true", "false", "no");
  const aConnection = fc.record({
    away: fc.integer({ min: 1, max: 60 }),
    stays: fc.integer({ min: 1, max: 60 }),
    // Never at the time of an event: of two decisions at the same time, the one that is reported last counts.
    consent: fc.tuple(text, fc.constantFrom("", at(-60.5), at(30.5), at(90.5))),
    ending: fc.constantFrom("left", "left", "left", "untold", "never"),
  });
  const visit = fc.record({
    people: fc.array(fc.array(aConnection, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
    isFinished: fc.boolean(),
  });

  function eventsOf(
    room: LiveKitRoom,
    {
      people,
      isFinished,
    }: {
      people: { away: number; stays: number; consent: [string, string]; ending: string }[][];
      isFinished: boolean;
    },
  ) {
    const events = people.flatMap((connections, n) => {
      let now = 0;
      return connections.flatMap(
        ({ away, stays, consent: [recording_consent, recording_consent_at], ending }) => {
          const [from, until] = [now + away, now + away + stays];
          now = until;
          const said = { name: `Person ${n}`, attributes: { recording_consent, recording_consent_at } };
          const disconnectReason =
            ending === "never" ? DisconnectReason.USER_REJECTED : DisconnectReason.CLIENT_INITIATED;
          const joined = room.joined(`person-${n}`, from, said);
          return ending === "untold"
            ? [joined]
            : [joined, room.left(`person-${n}`, until, from, { ...said, disconnectReason })];
        },
      );
    });
    return [room.started(), ...events, ...(isFinished ? [room.finished(500)] : [])];
  }

  /** The calls without ids, and with people sorted by name, because the order of their rows may differ. */
  async function outcomeOf(clinic: Organization, room: LiveKitRoom) {
    const calls = await shownCalls(clinic, room);
    return calls.map(({ participants, is_ended, started_at, ended_at }) => ({
      is_ended,
      started_at,
      ended_at,
      participants: participants
        .map(({ id: _, ...each }: { id: number; display_name: string }) => each)
        .sort((one: { display_name: string }, other: { display_name: string }) =>
          one.display_name.localeCompare(other.display_name),
        ),
    }));
  }

  it("lead to the same calls and participants as ordered events", async () => {
    await fc.assert(
      fc.asyncProperty(
        visit,
        visit,
        fc.integer(),
        fc.nat({ max: 3 }),
        async (first, second, seed, repeated) => {
          const clinics = await Promise.all([
            anOrganization(),
            anOrganization(),
            anOrganization(),
            anOrganization(),
          ]);
          const [one, other, oneInOrder, otherInOrder] = clinics as [
            Organization,
            Organization,
            Organization,
            Organization,
          ];
          const rooms = await Promise.all([one, other].map((clinic) => aLiveKitRoom(clinic)));
          const [room, another] = rooms as [LiveKitRoom, LiveKitRoom];
          const sids = [{ sid: room.sid }, { sid: another.sid }] as const;
          const inOrder = await aLiveKitRoom(oneInOrder, sids[0]);
          const anotherInOrder = await aLiveKitRoom(otherInOrder, sids[1]);
          await delivered([...eventsOf(inOrder, first), ...eventsOf(anotherInOrder, second)]);
          const events = [...eventsOf(room, first), ...eventsOf(another, second)];
          const [shuffled = []] = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), {
            numRuns: 1,
            seed,
          });
          await delivered([...shuffled, ...shuffled.slice(0, repeated)]);
          expect(await outcomeOf(one, room)).toEqual(await outcomeOf(oneInOrder, inOrder));
          expect(await outcomeOf(other, another)).toEqual(await outcomeOf(otherInOrder, anotherInOrder));
        },
      ),
      { numRuns: 15 },
    );
  });
});
