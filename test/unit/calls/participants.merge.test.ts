import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  mergeParticipant,
  mergeParticipantsOnCall,
} from "../../../src/calls/participants/participants.merge.ts";
import type {
  ParticipantReport,
  ReportOnCall,
} from "../../../src/calls/participants/participants.schemas.ts";
import { leaveAtEnd, type Meaning, meaningOf } from "../../../src/calls/participants/participants.stays.ts";
import { ApiError } from "../../../src/http/errors.ts";
import { changed, type Known, personOf, RITA, withPerson } from "../support/rows.ts";

const NOW = 1000;

const ROOM = { id: 7, organization_id: 1, is_active: true, slug_is_current: true };
const OTHER_ROOM = { ...ROOM, id: 8 };
const OLD_SLUG = { ...ROOM, slug_is_current: false };
const INACTIVE = { ...ROOM, is_active: false };

const merge = (
  before: Known | undefined,
  report: ParticipantReport,
  { room = ROOM, isMember = true } = {},
) => {
  const record = before && personOf(before);
  const known = { room, participant: before, person: record, isMember };
  const { participant, person } = mergeParticipant(known, "rita", report, NOW);
  return before && participant === before && person === record ? before : withPerson(participant, person);
};

const stored = (state: object): Known => ({ ...RITA, ...state, created_at: 0, updated_at: 0 });

const first = { display_name: "Rita", role: "recipient", waiting_since: 100 } as const;

/** The fields of the next row, or the text of the refusal. */
type Outcome = Partial<Known> | "unchanged" | "as reported" | RegExp;

function expectOutcome<Report>(
  merged: (said: Report) => object | undefined,
  [known, said, outcome = "unchanged"]: Case<Report>,
) {
  if (outcome instanceof RegExp) expect(() => merged(said)).toThrow(outcome);
  else if (outcome === "unchanged") expect(merged(said)).toBe(known);
  else expect(merged(said)).toMatchObject(outcome === "as reported" ? (said as object) : outcome);
}

const GONE = stored({ left_at: 150 });
const ASSUMED_GONE = stored({ left_at: 150, left_is_assumed: true });
const ERASED = stored({ display_name: "Participant", left_at: 150, erased_at: 900 });
const ON_CALL = stored({ call_id: 501, joined_at: 120 });
const RETURNED = stored({ waiting_since: 200, earlier_stay_until: 150 });

const STAY = { waiting_since: 100, left_at: 150 };
const LATER = { waiting_since: 160 };
const RENAMED = { display_name: "R." };
const ELSEWHERE = { room: OTHER_ROOM };
const NOT_A_MEMBER = /must be the user_id of a user of the organization/;

/** Without an outcome, nothing changes. */
type Case<Report> = [
  known: Known | undefined,
  said: Report,
  outcome?: Outcome,
  where?: { room?: typeof ROOM; isMember?: boolean },
];

type Cases<Report> = Record<Meaning["kind"], Record<string, Case<Report>>>;

const rowsOf = <Report>(meanings: Cases<Report>) =>
  (Object.keys(meanings) as Meaning["kind"][]).flatMap((kind) =>
    Object.entries(meanings[kind]).map(([name, row]) => [kind, name, row] as const),
  );

describe("mergeParticipant", () => {
  const CASES: Cases<ParticipantReport> = {
    first: {
      "a new participant enters": [
        undefined,
        first,
        { waiting_room_id: ROOM.id, left_at: null, call_id: null, earlier_stay_until: null },
      ],
      "without a name": [undefined, { ...first, display_name: undefined }, /required in the first/],
      "without waiting_since": [undefined, { ...first, waiting_since: undefined }, /required/],
      "by an old slug": [undefined, { left_at: 150 }, /renamed or retired/, { room: OLD_SLUG }],
      "into an inactive room": [undefined, first, /not active/, { room: INACTIVE }],
      "a stay after an erased one": [
        ERASED,
        { ...first, ...LATER },
        { display_name: "Rita", left_at: null, earlier_stay_until: 150, erased_at: null, created_at: NOW },
      ],
    },
    erased: {
      "an erased stay": [ERASED, { ...first, left_at: 160 }],
      "an erased stay, with an unknown user": [ERASED, { user_id: 9 }, "unchanged", { isMember: false }],
      "coming back after an erased call": [{ ...ERASED, call_id: 501 }, LATER, /under a new key/],
    },
    late: {
      "an earlier stay": [RETURNED, STAY],
      "an earlier stay, after leaving again": [{ ...RETURNED, left_at: 250 }, STAY],
      "an unknown stay that ended before the current one": [{ ...RETURNED, earlier_stay_until: 90 }, STAY],
      "an unknown stay that ended before a call": [{ ...ON_CALL, waiting_since: 200, joined_at: 210 }, STAY],
      "a stay in another room": [RITA, { waiting_since: 90, left_at: 95 }, "unchanged", ELSEWHERE],
      "a stay elsewhere, after leaving": [GONE, { waiting_since: 90, left_at: 95 }, "unchanged", ELSEWHERE],
      "an earlier wait in another room": [GONE, { waiting_since: 90 }, "unchanged", ELSEWHERE],
    },
    return: {
      "a later wait": [GONE, LATER, { ...LATER, left_at: null, earlier_stay_until: 150 }],
      "a later stay that is over": [
        GONE,
        { ...LATER, left_at: 170 },
        { left_at: 170, waiting_room_id: OTHER_ROOM.id, earlier_stay_until: 150 },
        ELSEWHERE,
      ],
      "a later wait after an assumed end": [ASSUMED_GONE, LATER, { left_at: null, left_is_assumed: false }],
      "a later wait, if the first may have ended": [RITA, LATER, { ...LATER, earlier_stay_until: 100 }],
      "a later wait in another room": [RITA, LATER, { waiting_room_id: OTHER_ROOM.id }, ELSEWHERE],
      "a later wait by an old slug": [GONE, LATER, /retired/, { room: OLD_SLUG }],
      "a later wait in an inactive room": [GONE, LATER, /not active/, { room: INACTIVE }],
    },
    correction: {
      "a field left out stays": [RITA, { user_id: 5 }, { ...first, user_id: 5 }],
      "null clears the user": [stored({ user_id: 5 }), { user_id: null }, "as reported", { isMember: false }],
      "what is known already": [GONE, { ...first, left_at: 150 }],
      "leaving an inactive room": [RITA, { left_at: 150 }, "as reported", { room: INACTIVE }],
      "null does not undo leaving": [GONE, { ...first, left_at: null }],
      "leaving replaces an assumed end, even at the same time": [
        ASSUMED_GONE,
        { left_at: 150 },
        { left_at: 150, left_is_assumed: false },
      ],
      "an assumed end stays when the wait is repeated": [ASSUMED_GONE, first],
      "a wait that begins when the last one ended is not a return": [
        GONE,
        { waiting_since: 150 },
        { waiting_since: 150, left_at: 150 },
      ],
      "an earlier time, after the earlier stay": [
        stored({ waiting_since: 200, left_at: 250, earlier_stay_until: 90 }),
        { waiting_since: 100, left_at: 240 },
        { waiting_since: 100, left_at: 240, earlier_stay_until: 90 },
      ],
      "a later time within the stay": [
        GONE,
        { waiting_since: 140 },
        { waiting_since: 140, left_at: 150, earlier_stay_until: null },
      ],
      "another room, without a time": [
        RITA,
        RENAMED,
        { ...RENAMED, waiting_room_id: OTHER_ROOM.id },
        ELSEWHERE,
      ],
      "on a call in another room": [ON_CALL, RENAMED, { ...RENAMED, waiting_room_id: ROOM.id }, ELSEWHERE],
      "on a call in another room, with an earlier time": [
        ON_CALL,
        { waiting_since: 90 },
        { waiting_since: 90, waiting_room_id: ROOM.id },
        ELSEWHERE,
      ],
      "another room, after leaving": [GONE, RENAMED, { ...RENAMED, waiting_room_id: ROOM.id }, ELSEWHERE],
      "leaving before waiting": [RITA, { left_at: 99 }, /must not be before waiting_since/],
      "leaving a call before waiting for it": [ON_CALL, { left_at: 90 }, /must not be before waiting_since/],
      "leaving before joining": [ON_CALL, { left_at: 110 }, /or joined_at/],
      "coming back after a call": [{ ...ON_CALL, left_at: 150 }, LATER, /under a new key/],
      "a user who is not a member": [RITA, { user_id: 9 }, NOT_A_MEMBER, { isMember: false }],
    },
  };

  it.each(rowsOf(CASES))("%s: %s", (kind, _, row) => {
    const [known, said, , { room = ROOM, isMember = true } = {}] = row;
    expect(meaningOf(known, { ...said, room_id: room.id }, {}).kind).toBe(kind);
    expectOutcome((report) => merge(known, report, { room, isMember }), row);
  });
});

it.each([ROOM, OTHER_ROOM])(
  "mergeParticipant lets an older report neither move the participant back nor undo a corrected time: %o",
  (room) => {
    for (const waiting_since of [80, 100, 120]) {
      const known = stored({ waiting_since, reported_at: 500 });
      expect(merge(known, { ...first, reported_at: 400 }, { room })).toBe(known);
    }
  },
);

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

/** Returns the row after the report. A refused report leaves it as it is. */
function applied(before: Known | undefined, next: ParticipantReport, room = ROOM): Known | undefined {
  try {
    return stored(merge(before, next, { room }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return before;
    throw error;
  }
}

const reported = (...reports: ParticipantReport[]) =>
  reports.reduce<Known | undefined>((known, each) => applied(known, each), undefined);

describe("mergeParticipant, for any reports", () => {
  it("changes nothing when a report is repeated, and never ends a stay before it begins", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 7 }), report, (earlier, last) => {
        const before = reported(...earlier);
        const once = applied(before, last);
        expect(applied(once, last)).toEqual(once);
        if (once?.left_at) expect(once.left_at).toBeGreaterThanOrEqual(once.waiting_since ?? 0);
      }),
      { numRuns: 4000 },
    );
  });

  it("has the same outcome for the reports of one stay in any order", () => {
    fc.assert(
      fc.property(time, time, (waiting_since, stay) => {
        const entering = { ...first, waiting_since };
        const leaving = { ...entering, left_at: waiting_since + stay };
        expect(reported(entering, leaving)).toMatchObject(leaving);
        expect(reported(leaving, entering)).toMatchObject(leaving);
      }),
    );
  });
});

describe("mergeParticipant, for two visits of one person", () => {
  const aWhile = fc.integer({ min: 1, max: 50 });
  const twoVisits = fc.tuple(time, aWhile, aWhile).map(([start, stay, pause]) => ({
    entering: { ...first, waiting_since: start },
    leaving: { ...first, waiting_since: start, left_at: start + stay },
    returning: { waiting_since: start + stay + pause },
  }));

  it("changes nothing of the second visit by late reports of the first", () => {
    const late = fc.array(fc.constantFrom("entering" as const, "leaving" as const), { maxLength: 4 });
    fc.assert(
      fc.property(twoVisits, fc.boolean(), late, ({ returning, ...earlier }, leftUnreported, names) => {
        const { entering, leaving } = earlier;
        const known = reported(entering, ...(leftUnreported ? [] : [leaving]), returning);
        const after = names.reduce((before, each) => applied(before, earlier[each]), known);
        expect(after).toEqual(known);
      }),
    );
  });

  it("keeps the second visit even if the first is reported only later", () => {
    fc.assert(
      fc.property(twoVisits, fc.boolean(), ({ leaving, returning }, hasLeft) => {
        const left_at = hasLeft ? returning.waiting_since + 1 : undefined;
        const known = reported({ ...first, ...returning, left_at });
        expect(applied(known, leaving)).toEqual(known);
      }),
    );
  });

  it("corrects a stay with a wrong time by an earlier time", () => {
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

describe("mergeParticipantsOnCall", () => {
  const CALL = { id: 501, organization_id: 1, waiting_room_id: OTHER_ROOM.id, started_at: 110 };
  const mergeOnCall = (known: Known | undefined, said: ReportOnCall) => {
    const participants = new Map(known && [[known.key, known]]);
    const people = known ? [personOf(known)] : [];
    const before = { call: CALL, participants, people, planned: [], members: new Set([5]) };
    const next = mergeParticipantsOnCall(before, [said], {}, NOW);
    const isSame = next.participants[0] === known && next.people.length === 0;
    return isSame ? known : changed(next, known ? [known] : [])[0];
  };
  const paula = { key: "rita", display_name: "Paula", role: "provider" as const, user_id: 5 };
  const LEFT = stored({ ...ON_CALL, waiting_room_id: OTHER_ROOM.id, left_at: 150 });
  const AGAIN = { joined_at: 160, left_at: null, earlier_stay_until: 150 };
  const REJOINED = { ...LEFT, ...AGAIN };

  const CASES: Cases<Omit<ReportOnCall, "key">> = {
    first: {
      "a new participant": [
        undefined,
        paula,
        { ...paula, call_id: 501, waiting_since: null, joined_at: null, left_at: null },
      ],
      "a new participant without a name": [undefined, {}, /required for a new participant/],
      "joining after an erased wait": [
        ERASED,
        { ...paula, joined_at: 160 },
        { display_name: "Paula", earlier_stay_until: 150, erased_at: null, created_at: NOW },
      ],
      "joining without a time, from the start of the call": [
        stored({ ...ERASED, left_at: 109 }),
        paula,
        { display_name: "Paula", earlier_stay_until: 109 },
      ],
    },
    erased: {
      "joining without a time, if the call starts before the erased wait ends": [ERASED, paula],
      "an erased call": [{ ...LEFT, erased_at: 900 }, { joined_at: 160 }],
      "another erased call": [stored({ ...ERASED, call_id: 77 }), {}, /on another call/],
    },
    late: {
      "the earlier stay of a participant who rejoined": [
        REJOINED,
        { ...RENAMED, joined_at: 120, left_at: 150 },
        { ...RENAMED, joined_at: 160, left_at: null },
      ],
      "leaving before rejoining": [REJOINED, { left_at: 150 }],
      "the earlier stay of a participant who rejoined and left again": [
        { ...REJOINED, left_at: 170 },
        { joined_at: 120, left_at: 150 },
      ],
    },
    return: {
      "joining after leaving": [LEFT, { joined_at: 160 }, AGAIN],
    },
    correction: {
      "a waiting participant moves to the call's room, and the other fields stay": [
        RITA,
        { joined_at: 120 },
        { key: "rita", call_id: 501, waiting_room_id: OTHER_ROOM.id, waiting_since: 100, joined_at: 120 },
      ],
      "null does not undo leaving": [LEFT, { left_at: null }],
      "leaving after rejoining": [REJOINED, { left_at: 170 }, "as reported"],
      "the time of rejoining": [REJOINED, { joined_at: 155 }, "as reported"],
      "from before leaving to after rejoining": [REJOINED, { joined_at: 120, left_at: 170 }, "as reported"],
      "a user who is not a member": [RITA, { user_id: 9 }, NOT_A_MEMBER],
      "a participant on another call": [stored({ call_id: 77 }), {}, /on another call/],
      "leaving before joining": [RITA, { joined_at: 130, left_at: 120 }, /must not be before/],
      "leaving before waiting": [RITA, { left_at: 99 }, /left_at: must not be before/],
    },
  };

  it.each(rowsOf(CASES))("%s: %s", (kind, _, row) => {
    const [known, said] = row;
    expect(meaningOf(known, { ...said, call_started_at: CALL.started_at }, {}).kind).toBe(kind);
    expectOutcome((report) => mergeOnCall(known, { ...report, key: "rita" }), row);
  });

  it.each([
    [{ left_at: null, joined_at: 120 }, 200, 200],
    [{ left_at: 150, joined_at: 120 }, 200, 150],
    [{ left_at: null, joined_at: 220 }, 200, 220],
    [{ left_at: null, joined_at: null, waiting_since: 210 }, 200, 210],
  ])("leaveAtEnd: %o leaves a call that ends at %i, at %i", (state, ended_at, left_at) => {
    expect(leaveAtEnd(stored(state), ended_at, NOW, false).left_at).toBe(left_at);
  });
});
