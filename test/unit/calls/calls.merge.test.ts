import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CallReport, type KnownCall, mergeCall } from "../../../src/calls/calls/calls.merge.ts";
import type { ReportedCall } from "../../../src/calls/calls/calls.schemas.ts";
import { leaveAtEnd } from "../../../src/calls/participants/participants.stays.ts";
import { ApiError } from "../../../src/http/errors.ts";
import { CALL_AS_MADE, changed, type Known, personOf } from "../support/rows.ts";

const NOW = 1000;

const ROOM = { id: 7 };
const OWNER = 12;

interface Stored {
  call: ReportedCall | undefined;
  participants: Known[];
}

const NOTHING: Stored = { call: undefined, participants: [] };

function knownTo(report: CallReport, { call, participants }: Stored): KnownCall {
  const keys = new Set(report.participants?.map(({ key }) => key));
  return {
    organization_id: 1,
    call,
    room: report.waiting_room_slug === undefined ? undefined : ROOM,
    participants: participants.filter(({ key }) => keys.has(key)),
    people: participants.map(personOf),
    consents: [],
    present:
      typeof report.ended_at === "number"
        ? participants.filter(({ left_at, left_is_assumed }) => left_at === null || left_is_assumed)
        : [],
    members: new Set([OWNER, 34]),
    planned: [],
    refusalsOf: () => [],
  };
}

function apply(stored: Stored, report: CallReport): Stored {
  const next = mergeCall(knownTo(report, stored), "call", report, NOW);
  const written = { id: 501, created_at: 0, updated_at: 0 };
  const byKey = new Map(stored.participants.map((each) => [each.key, each]));
  for (const each of changed(next, stored.participants)) {
    const id = byKey.get(each.key)?.id ?? 301 + byKey.size;
    byKey.set(each.key, { ...each, ...written, id, person_id: id, call_id: 501 });
  }
  const held = next.beginsHold && { hold_id: 601, hold_began_at: NOW, hold_begun_by: "platform" as const };
  const call = { ...CALL_AS_MADE, ...next.call, ...written, ...held };
  return { call, participants: [...byKey.values()] };
}

/** Assumes the end of a silent call, as the cron does. */
function assumeEnd({ call, participants }: Stored): Stored {
  if (!call || call.ended_at !== null) return { call, participants };
  const times = participants.flatMap((each) => [each.waiting_since, each.joined_at, each.left_at]);
  const ended_at = Math.max(call.started_at, ...times.map((time) => time ?? 0));
  return {
    call: { ...call, ended_at, end_is_assumed: true, results_awaited_since: NOW },
    participants: participants.map((each) => leaveAtEnd(each, ended_at, NOW, true)),
  };
}

function applyUnlessRefused(stored: Stored, report: CallReport): Stored {
  try {
    return apply(stored, report);
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return stored;
    throw error;
  }
}

const FIRST: CallReport = { waiting_room_slug: "room", organization_user_id: OWNER, started_at: 100 };
const RITA = { key: "rita", display_name: "Rita", role: "recipient" as const, joined_at: 100 };

const time = fc.integer({ min: 1, max: 50 });

const participant = fc.record(
  {
    display_name: fc.constantFrom("Rita", "R."),
    role: fc.constantFrom("recipient" as const, "provider" as const),
    user_id: fc.option(fc.constantFrom(34, 35)),
    waiting_since: fc.option(time),
    joined_at: fc.option(time),
    left_at: fc.option(time),
    recording_consent: fc.boolean(),
    key: fc.constantFrom("rita", "paul", "paula"),
  },
  { requiredKeys: ["key"] },
);

const report: fc.Arbitrary<CallReport> = fc.record(
  {
    waiting_room_slug: fc.constant("room"),
    organization_user_id: fc.constantFrom(OWNER, 99),
    started_at: time,
    ended_at: fc.option(time),
    failed: fc.option(fc.boolean()),
    participants: fc.uniqueArray(participant, { selector: ({ key }) => key, maxLength: 3 }),
  },
  { requiredKeys: [] },
);

describe("mergeCall, for any reports", () => {
  it("changes nothing when a report is repeated, and keeps an ended call ended, in its room, with everyone gone", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 8 }), (reports) => {
        let stored = NOTHING;
        for (const each of reports) {
          const next = applyUnlessRefused(stored, each);
          expect(applyUnlessRefused(next, each)).toEqual(next);
          if (stored.call?.ended_at) expect(next.call?.ended_at).not.toBeNull();
          if (stored.call) expect(next.call?.waiting_room_id).toBe(stored.call.waiting_room_id);
          if (next.call?.ended_at)
            expect(next.participants.filter(({ left_at }) => left_at === null)).toEqual([]);
          stored = next;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("has the same outcome with and without an assumed end, once the end is reported", () => {
    const reportsAndSilences = fc.array(fc.option(report), { maxLength: 6 });
    fc.assert(
      fc.property(reportsAndSilences, fc.integer({ min: 51, max: 99 }), (reports, ended_at) => {
        const last: CallReport = { ended_at };
        const outcome = (silence: (known: Stored) => Stored) =>
          [...reports, last].reduce<Stored>(
            (known, each) => (each ? applyUnlessRefused(known, each) : silence(known)),
            NOTHING,
          );
        expect(outcome(assumeEnd)).toEqual(outcome((known) => known));
      }),
      { numRuns: 5000 },
    );
  });

  it("has the same outcome in any order, if each report says all that was known", () => {
    const story = fc.record({
      joined_at: fc.integer({ min: 100, max: 110 }),
      left_at: fc.integer({ min: 111, max: 120 }),
      ended_at: fc.integer({ min: 121, max: 130 }),
      recording_consent: fc.boolean(),
    });
    const order = fc.shuffledSubarray([0, 1, 2], { minLength: 3 });
    fc.assert(
      fc.property(story, order, ({ left_at, ended_at, ...said }, places) => {
        const rita = { ...RITA, ...said };
        const reports: CallReport[] = [
          { ...FIRST, participants: [rita] },
          { ...FIRST, participants: [{ ...rita, left_at }] },
          { ...FIRST, ended_at, participants: [{ ...rita, left_at }] },
        ];
        const shuffled = places.map((n) => reports[n] as CallReport);
        expect(shuffled.reduce(apply, NOTHING)).toEqual(reports.reduce(apply, NOTHING));
      }),
    );
  });
});
