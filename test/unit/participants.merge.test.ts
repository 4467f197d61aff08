import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ApiError } from "../../src/http/errors.ts";
import { mergeParticipant } from "../../src/resources/participants/participants.merge.ts";
import {
  type KnownOnCall,
  leaveAtEnd,
  mergeParticipantsOnCall,
} from "../../src/resources/participants/participants.on_call.ts";
import type {
  Participant,
  ParticipantReport,
} from "../../src/resources/participants/participants.schemas.ts";
import { RITA } from "./support/rows.ts";

const NOW = 1000;

const ROOM = { id: 7, organization_id: 1, is_active: true, slug_is_current: true };
const OTHER_ROOM = { ...ROOM, id: 8 };

const merge = (
  before: Participant | undefined,
  report: ParticipantReport,
  { room = ROOM, isMember = true } = {},
) => mergeParticipant({ room, participant: before, isMember }, "rita", report, NOW);

/** The row that a state becomes: what a later report finds. */
const stored = (state: object): Participant => ({ ...RITA, ...state, created_at: 0, updated_at: 0 });

const first = { display_name: "Rita", role: "recipient", waiting_since: 100 } as const;

describe("A report of somebody in a waiting room", () => {
  it.each<[string, Participant | undefined, ParticipantReport, Partial<Participant>]>([
    ["a new one enters", undefined, first, { waiting_room_id: ROOM.id, left_at: null, call_id: null }],
    [
      "a field left out stays",
      RITA,
      { user_id: 5 },
      { display_name: "Rita", user_id: 5, waiting_since: 100 },
    ],
    ["null clears the user", stored({ user_id: 5 }), { user_id: null }, { user_id: null }],
    ["leaving is kept", RITA, { left_at: 150 }, { left_at: 150 }],
    [
      "a late report does not bring back",
      stored({ left_at: 150 }),
      { ...first, left_at: null },
      { left_at: 150 },
    ],
    [
      "a later wait is a new visit",
      stored({ left_at: 150 }),
      { waiting_since: 160 },
      { left_at: null, waiting_since: 160 },
    ],
    [
      "a late report of leaving replaces what was assumed, also the same time",
      stored({ left_at: 150, left_is_assumed: true }),
      { left_at: 150 },
      { left_at: 150, left_is_assumed: false },
    ],
    [
      "a later wait after an assumed end is a new visit",
      stored({ left_at: 150, left_is_assumed: true }),
      { waiting_since: 160 },
      { left_at: null, left_is_assumed: false },
    ],
    [
      "a wait that is said to have ended stays ended",
      stored({ left_at: 150, left_is_assumed: true }),
      { ...first },
      { left_at: 150, left_is_assumed: true },
    ],
    [
      "a wait at the very end of the last is none",
      stored({ left_at: 150 }),
      { waiting_since: 150 },
      { left_at: 150 },
    ],
    [
      "an earlier visit changes nothing",
      stored({ waiting_since: 200, earlier_visit_until: 150 }),
      { waiting_since: 100, left_at: 150 },
      { waiting_since: 200, left_at: null },
    ],
    [
      "an earlier visit changes nothing, even if only its beginning is known",
      stored({ waiting_since: 200, earlier_visit_until: 100 }),
      { waiting_since: 100, left_at: 150 },
      { waiting_since: 200, left_at: null },
    ],
    [
      "a visit that ended before this one began changes nothing, even if nobody knew of it",
      stored({ waiting_since: 200, left_at: 250 }),
      { waiting_since: 100, left_at: 199, display_name: "R.", user_id: 5 },
      { waiting_since: 200, left_at: 250, display_name: "Rita", user_id: null },
    ],
    [
      "nor while this one goes on",
      stored({ waiting_since: 200, earlier_visit_until: 90 }),
      { waiting_since: 100, left_at: 150 },
      { waiting_since: 200, left_at: null },
    ],
    [
      "nor once this one has become a call",
      stored({ waiting_since: 200, call_id: 501, joined_at: 210 }),
      { waiting_since: 100, left_at: 150 },
      { waiting_since: 200, joined_at: 210, left_at: null },
    ],
    [
      "a corrected visit counts, if there was none before",
      stored({ waiting_since: 200, left_at: 250 }),
      { waiting_since: 100, left_at: 200 },
      { waiting_since: 100, left_at: 200 },
    ],
    [
      "a corrected visit counts, if it is after the one before",
      stored({ waiting_since: 200, left_at: 250, earlier_visit_until: 90 }),
      { waiting_since: 100, left_at: 240 },
      { waiting_since: 100, left_at: 240, earlier_visit_until: 90 },
    ],
    [
      "a new visit remembers when the last one ended",
      stored({ left_at: 150 }),
      { waiting_since: 160 },
      { earlier_visit_until: 150 },
    ],
    [
      "a later wait of somebody who has not left may be a new visit",
      RITA,
      { waiting_since: 160 },
      { waiting_since: 160, earlier_visit_until: 100 },
    ],
    [
      "a later wait within the visit is no new one",
      stored({ left_at: 150 }),
      { waiting_since: 140 },
      { waiting_since: 140, left_at: 150, earlier_visit_until: null },
    ],
    ["a corrected start of this visit counts", RITA, { waiting_since: 90 }, { waiting_since: 90 }],
  ])("%s", (_, before, report, expected) => {
    expect(merge(before, report)).toMatchObject(expected);
  });

  it("in another room moves the participant there", () => {
    expect(merge(RITA, { waiting_since: 110 }, { room: OTHER_ROOM }).waiting_room_id).toBe(OTHER_ROOM.id);
  });

  it("in another room, about an earlier visit, moves nobody", () => {
    for (const before of [RITA, stored({ left_at: 150 })])
      expect(merge(before, { waiting_since: 90, left_at: 95 }, { room: OTHER_ROOM })).toEqual(before);
  });

  it("keeps somebody on a call in the room of the call", () => {
    const onCall = stored({ call_id: 501 });
    expect(merge(onCall, { display_name: "R." }, { room: OTHER_ROOM })).toMatchObject({
      waiting_room_id: ROOM.id,
      call_id: 501,
      display_name: "R.",
    });
  });

  it.each<[string, Participant | undefined, ParticipantReport, RegExp]>([
    [
      "a first report without a name",
      undefined,
      { ...first, display_name: undefined },
      /required in the first/,
    ],
    ["a first report without a role", undefined, { ...first, role: undefined }, /required in the first/],
    ["a first report without waiting_since", undefined, { ...first, waiting_since: undefined }, /required/],
    ["leaving before waiting", RITA, { left_at: 99 }, /must not be before waiting_since/],
    ["leaving before joining", stored({ joined_at: 120 }), { left_at: 110 }, /or joined_at/],
    [
      "coming back after a call",
      stored({ call_id: 501, left_at: 150 }),
      { waiting_since: 160 },
      /under a new key/,
    ],
  ])("is refused: %s", (_, before, report, error) => {
    expect(() => merge(before, report)).toThrow(error);
  });

  it("is refused for a user who is not a member, and accepted where it names nobody", () => {
    expect(() => merge(RITA, { user_id: 9 }, { isMember: false })).toThrow(
      /must be the user_id of a user of the organization/,
    );
    expect(merge(RITA, { user_id: null }, { isMember: false }).user_id).toBeNull();
  });

  it("lets somebody leave an inactive room, and lets nobody enter it", () => {
    const room = { ...ROOM, is_active: false };
    expect(merge(RITA, { left_at: 150 }, { room }).left_at).toBe(150);
    expect(() => merge(undefined, first, { room })).toThrow(/not active/);
    expect(() => merge(stored({ left_at: 150 }), { waiting_since: 160 }, { room })).toThrow(/not active/);
  });
});

const time = fc.integer({ min: 1, max: 50 });

const report: fc.Arbitrary<ParticipantReport> = fc.record(
  {
    display_name: fc.constantFrom("Rita", "R."),
    role: fc.constantFrom("recipient" as const, "provider" as const),
    user_id: fc.option(fc.constantFrom(5, 6)),
    waiting_since: time,
    left_at: fc.option(time),
  },
  { requiredKeys: [] },
);

/** What a row becomes by a report; a report that is refused leaves it as it is. */
function applied(
  before: Participant | undefined,
  next: ParticipantReport,
  room = ROOM,
): Participant | undefined {
  try {
    return stored(merge(before, next, { room }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return before;
    throw error;
  }
}

describe("Reports of somebody in a waiting room, whatever they are", () => {
  it("say the same when they come twice in a row", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 6 }), report, (earlier, last) => {
        const before = earlier.reduce<Participant | undefined>(
          (known, each) => applied(known, each),
          undefined,
        );
        const once = applied(before, last);
        expect(applied(once, last)).toEqual(once);
      }),
      { numRuns: 2000 },
    );
  });

  it("never leave a visit that ends before it begins", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        const known = reports.reduce<Participant | undefined>(
          (before, each) => applied(before, each),
          undefined,
        );
        if (known?.left_at) expect(known.left_at).toBeGreaterThanOrEqual(known.waiting_since ?? 0);
      }),
      { numRuns: 2000 },
    );
  });

  it("of one visit lead to the same state in any order", () => {
    const visit = fc.record({ waiting_since: time, stay: time });
    fc.assert(
      fc.property(visit, fc.boolean(), ({ waiting_since, stay }, leavesFirst) => {
        const entering = { ...first, waiting_since };
        const leaving = { ...entering, left_at: waiting_since + stay };
        const order = leavesFirst ? [leaving, entering] : [entering, leaving];
        const known = order.reduce<Participant | undefined>(
          (before, each) => applied(before, each),
          undefined,
        );
        expect(known).toMatchObject({ waiting_since, left_at: waiting_since + stay });
      }),
    );
  });
});

describe("Two visits of one person, whatever their times", () => {
  const aWhile = fc.integer({ min: 1, max: 50 });
  const twoVisits = fc.tuple(time, aWhile, aWhile).map(([start, stay, pause]) => ({
    entering: { ...first, waiting_since: start },
    leaving: { ...first, waiting_since: start, left_at: start + stay },
    returning: { waiting_since: start + stay + pause },
  }));
  const reported = (...reports: ParticipantReport[]) =>
    reports.reduce<Participant | undefined>((known, each) => applied(known, each), undefined);

  it("are told apart: late reports of the first change nothing of the second", () => {
    fc.assert(
      fc.property(
        twoVisits,
        fc.boolean(),
        fc.array(fc.nat({ max: 1 }), { maxLength: 4 }),
        ({ entering, leaving, returning }, leftUnreported, late) => {
          const known = reported(entering, ...(leftUnreported ? [] : [leaving]), returning);
          const later = late.map((n) => [entering, leaving][n] as ParticipantReport);
          const after = later.reduce((before, each) => applied(before, each), known);
          expect(after).toEqual(known);
        },
      ),
    );
  });

  it("are told apart even if the first is reported only when the second is known", () => {
    fc.assert(
      fc.property(twoVisits, fc.boolean(), ({ leaving, returning }, hasLeft) => {
        const known = reported({
          ...first,
          ...returning,
          ...(hasLeft ? { left_at: returning.waiting_since + 1 } : {}),
        });
        expect(applied(known, leaving)).toEqual(known);
      }),
    );
  });

  it("are told from one visit with a wrong time, which an earlier time corrects", () => {
    fc.assert(
      fc.property(twoVisits, aWhile, ({ entering, returning }, stay) => {
        const wrong = { ...first, ...returning };
        const right = { ...entering, left_at: returning.waiting_since + stay - 1 };
        expect(reported(wrong, entering)).toMatchObject(entering);
        expect(reported(wrong, right)).toMatchObject(right);
      }),
    );
  });
});

describe("A call's report of its participants", () => {
  const CALL = { id: 501, organization_id: 1, waiting_room_id: OTHER_ROOM.id, started_at: 110 };
  const known = (more: Partial<KnownOnCall> = {}): KnownOnCall => ({
    call: CALL,
    participants: new Map([["rita", RITA]]),
    members: new Set([5]),
    ...more,
  });

  it("takes those who wait to the call and its room, and keeps the rest", () => {
    expect(mergeParticipantsOnCall(known(), [{ key: "rita", joined_at: 120 }], NOW)).toMatchObject([
      { key: "rita", call_id: 501, waiting_room_id: OTHER_ROOM.id, waiting_since: 100, joined_at: 120 },
    ]);
  });

  it("makes new ones, who need a name and a role", () => {
    const paula = { key: "paula", display_name: "Paula", role: "provider" as const, user_id: 5 };
    expect(mergeParticipantsOnCall(known(), [paula], NOW)).toMatchObject([
      { ...paula, waiting_since: null, joined_at: null, left_at: null, recording_consent: null },
    ]);
    expect(() => mergeParticipantsOnCall(known(), [{ key: "paula" }], NOW)).toThrow(
      /required for a new participant/,
    );
  });

  it("brings back who joins after leaving, and nobody else", () => {
    const participants = new Map([["rita", stored({ call_id: 501, joined_at: 120, left_at: 150 })]]);
    const [late] = mergeParticipantsOnCall(known({ participants }), [{ key: "rita", left_at: null }], NOW);
    expect(late?.left_at).toBe(150);
    const [back] = mergeParticipantsOnCall(known({ participants }), [{ key: "rita", joined_at: 160 }], NOW);
    expect(back).toMatchObject({ left_at: null, joined_at: 160 });
  });

  it.each<[string, Partial<KnownOnCall>, object, RegExp]>([
    ["a user who is not a member", {}, { user_id: 9 }, /user_id must be that of a user of the organization/],
    [
      "one on another call",
      { participants: new Map([["rita", stored({ call_id: 77 })]]) },
      {},
      /on another call/,
    ],
    ["leaving before joining", {}, { joined_at: 130, left_at: 120 }, /left_at must not be before/],
    ["leaving before waiting", {}, { left_at: 99 }, /left_at must not be before/],
  ])("is refused: %s", (_, more, rita, error) => {
    expect(() => mergeParticipantsOnCall(known(more), [{ key: "rita", ...rita }], NOW)).toThrow(error);
  });

  it.each([
    [{ left_at: null, joined_at: 120 }, 200, 200],
    [{ left_at: 150, joined_at: 120 }, 200, 150],
    [{ left_at: null, joined_at: 220 }, 200, 220],
    [{ left_at: null, joined_at: null, waiting_since: 210 }, 200, 210],
  ])("at the call's end: %o has left at %i or when they came: %i", (state, ended_at, left_at) => {
    expect(leaveAtEnd(stored(state), ended_at, NOW).left_at).toBe(left_at);
  });
});
