import { DisconnectReason, ParticipantInfo_Kind, WebhookEvent } from "@livekit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { translate } from "../../src/livekit/events.ts";
import { reportOfRoomEvent } from "../../src/livekit/room_events.merge.ts";
import { mergeCall } from "../../src/resources/calls/calls.merge.ts";
import type { ReportedCall } from "../../src/resources/calls/calls.schemas.ts";
import type { KnownConsent } from "../../src/resources/consents/consents.schemas.ts";
import type { Participant, ReportOnCall } from "../../src/resources/participants/participants.schemas.ts";
import { recordingConsent } from "./support/consents.ts";
import { CALL_AS_MADE, RITA } from "./support/rows.ts";

const T0 = Date.parse("2026-01-31T09:30:00Z");
/** When the events come. */
const NOW = T0 + 3_600_000;
const ROOM = { id: 7 };
const ORGANIZATION = 1;
const CALL_ID = 21;
const MEMBER = 5;
const OWNER = 11;

const metadata = JSON.stringify({ waiting_room_slug: "clinic--cardiology", organization_user_id: OWNER });

interface Said {
  name?: string;
  attributes?: Record<string, string>;
  joinedAtMs?: number;
  kind?: ParticipantInfo_Kind;
  disconnectReason?: DisconnectReason;
}

/** An event as LiveKit writes it. It has whole seconds. */
function anEvent(event: string, at: number, identity?: string, { joinedAtMs, ...said }: Said = {}): string {
  return new WebhookEvent({
    event,
    id: `EV_${event}_${at}`,
    createdAt: BigInt(Math.floor(at / 1000)),
    room: { sid: "RM_1", name: "clinic--visit-1", metadata, creationTime: BigInt(T0 / 1000) },
    ...(identity !== undefined && {
      participant: {
        sid: `PA_${joinedAtMs}`,
        identity,
        ...(joinedAtMs !== undefined && {
          joinedAt: BigInt(Math.floor(joinedAtMs / 1000)),
          joinedAtMs: BigInt(joinedAtMs),
        }),
        ...said,
      },
    }),
  }).toJsonString();
}

const started = anEvent("room_started", T0);
const finished = (at: number) => anEvent("room_finished", T0 + at);
const joined = (identity: string, at: number, said: Said = {}) =>
  anEvent("participant_joined", T0 + at, identity, { joinedAtMs: T0 + at, ...said });
const left = (identity: string, at: number, joinedAt: number, said: Said = {}) =>
  anEvent("participant_left", T0 + at, identity, { joinedAtMs: T0 + joinedAt, ...said });

/** What the platform reports between events. */
interface Correction {
  platform: ReportOnCall;
  reported_at: number;
}

/** What the events leave behind, in this order. The clock goes on with every event. */
function outcomeOf(events: (string | Correction)[], waiting: Participant[] = []) {
  let call: ReportedCall | undefined;
  let ledger: KnownConsent[] = [];
  const participants = new Map(waiting.map((each) => [each.key, each]));
  for (const [n, event] of events.entries()) {
    const now = NOW + n;
    const visit = typeof event === "string" ? visitOf(event, now) : undefined;
    if (typeof event === "string" && !visit) continue;
    const keys = visit ? (visit.visitor?.keys ?? []) : [(event as Correction).platform.key];
    const everybody = [...participants.values()];
    const known = {
      organization_id: ORGANIZATION,
      call,
      room: ROOM,
      participants: everybody.filter(({ key }) => keys.includes(key)),
      consents: ledger,
      present: everybody.filter(
        (each) => visit?.ended_at && each.call_id === CALL_ID && each.left_at === null,
      ),
      members: new Set([OWNER, MEMBER]),
      planned: [],
    };
    const report = visit ? reportOfRoomEvent(visit, known) : platformReport(event as Correction);
    const next = mergeCall(known, "RM_1", report, now);
    call = { ...CALL_AS_MADE, ...next.call, id: CALL_ID };
    for (const each of next.participants)
      participants.set(each.key, { ...each, id: idOf(each.key), call_id: CALL_ID });
    ledger = [
      ...ledger,
      ...next.consents.map(({ participant_key, ...each }) => ({
        ...each,
        said_at: each.said_at ?? null,
        participant_id: idOf(participant_key),
      })),
    ];
    for (const each of participants.values()) {
      const own = ledger.filter(({ participant_id }) => participant_id === each.id);
      if (own.length > 0) each.recording_consent = recordingConsent(own);
    }
  }
  const people = [...participants.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  return { call: call && withoutTimestamps(call), people: people.map(withoutHistory) };
}

const platformReport = ({ platform, reported_at }: Correction) => ({ participants: [platform], reported_at });

function visitOf(event: string, now: number) {
  const translation = translate(JSON.parse(event), now);
  return "room" in translation ? translation.room : undefined;
}

/** The same in every order. */
const idOf = (key: string) =>
  [...key].reduce((id, character) => id * 31 + (character.codePointAt(0) ?? 0), 7) % 1e9;

const withoutTimestamps = <Row extends { created_at: number; updated_at: number }>(row: Row) => ({
  ...row,
  created_at: 0,
  updated_at: 0,
});

/** With which times events were written depends on the order. */
const withoutHistory = ({
  waiting_event_at: _,
  joined_event_at: __,
  left_event_at: ___,
  earlier_left_event_at: ____,
  ...known
}: Participant) => withoutTimestamps(known);

function* permutations<T>(list: T[]): Generator<T[]> {
  if (list.length < 2) yield list;
  for (const [n, first] of list.entries())
    for (const rest of permutations(list.filter((_, other) => other !== n))) yield [first, ...rest];
}

/** Expects the same of every order, and returns it. */
function inEveryOrder(events: string[], waiting: Participant[] = []) {
  const expected = outcomeOf(events, waiting);
  for (const order of permutations(events)) {
    const result = outcomeOf(order, waiting);
    if (JSON.stringify(result) !== JSON.stringify(expected))
      expect({ order: order.map((each) => JSON.parse(each).id), result }).toEqual({ result: expected });
  }
  return expected;
}

const RITA_WAITS: Participant = {
  ...RITA,
  waiting_room_id: 8,
  display_name: "Rita Recipient",
  waiting_since: T0 - 60_000,
};

const CONSENTS = { recording_consent: "true" };
const REFUSES = { recording_consent: "false" };
const PROVIDER = { role: "provider", user_id: String(MEMBER), recording_consent: "true" };

describe("Every order of the events of a visit leads to the same call and participants:", () => {
  it("two people who join and leave", () => {
    const { call, people } = inEveryOrder([
      started,
      joined("paula", 1_200, { name: "Paula", attributes: PROVIDER }),
      joined("rita", 5_700, { name: "Rita", attributes: CONSENTS }),
      left("rita", 600_000, 5_700, { name: "Rita", attributes: CONSENTS }),
      left("paula", 605_000, 1_200, { name: "Paula", attributes: PROVIDER }),
      finished(606_000),
    ]);
    expect(call).toMatchObject({
      key: "RM_1",
      started_at: T0,
      ended_at: T0 + 606_000,
      waiting_room_id: ROOM.id,
    });
    expect(people).toMatchObject([
      { key: "paula", role: "provider", user_id: MEMBER, joined_at: T0 + 1_200, left_at: T0 + 605_000 },
      { key: "rita", role: "recipient", user_id: null, joined_at: T0 + 5_700, left_at: T0 + 600_000 },
    ]);
  });

  const COMES_BACK = [joined("rita", 1_500), left("rita", 60_000, 1_500), joined("rita", 61_300)];
  const REPLACED = { disconnectReason: DisconnectReason.DUPLICATE_IDENTITY };

  it.each<[string, string[], joined_at: number, left_at: number]>([
    [
      "comes back",
      [started, ...COMES_BACK, left("rita", 120_000, 61_300), finished(121_000)],
      61_300,
      120_000,
    ],
    [
      "comes back, and is there when the room closes",
      [started, ...COMES_BACK, finished(121_000)],
      61_300,
      121_000,
    ],
    [
      "comes back, where LiveKit does not say when those who left had joined",
      [
        joined("rita", 1_500),
        anEvent("participant_left", T0 + 60_000, "rita"),
        joined("rita", 61_300),
        anEvent("participant_left", T0 + 120_000, "rita"),
        finished(121_000),
      ],
      61_300,
      120_000,
    ],
    [
      "has a new connection, which replaces the old one",
      [
        started,
        joined("rita", 1_500),
        joined("rita", 60_900),
        left("rita", 61_100, 1_500, REPLACED),
        finished(121_000),
      ],
      60_900,
      121_000,
    ],
    [
      "leaves within a second",
      [started, joined("rita", 1_500), left("rita", 1_900, 1_500), finished(9_000)],
      1_500,
      1_500,
    ],
    [
      "leaves when the room has closed",
      [started, joined("rita", 1_500), finished(60_000), left("rita", 61_000, 1_500)],
      1_500,
      61_000,
    ],
  ])("somebody who %s", (_, events, joined_at, left_at) => {
    const { people } = inEveryOrder(events);
    expect(people).toMatchObject([{ key: "rita", joined_at: T0 + joined_at, left_at: T0 + left_at }]);
  });

  it("somebody who waited before", () => {
    const events = [
      started,
      joined("rita", 1_500, { name: "", attributes: CONSENTS }),
      left("rita", 60_000, 1_500, { name: "", attributes: CONSENTS }),
      finished(61_000),
    ];
    const { people } = inEveryOrder(events, [RITA_WAITS]);
    expect(people).toEqual([
      {
        ...withoutHistory(RITA_WAITS),
        id: expect.any(Number),
        call_id: CALL_ID,
        waiting_room_id: ROOM.id,
        joined_at: T0 + 1_500,
        left_at: T0 + 60_000,
        recording_consent: true,
        livekit_said: JSON.stringify({ consents: [[`PA_${T0 + 1_500}`, T0 + 1_501, true, null]] }),
      },
    ]);
  });

  it.each([
    ["is given during the visit", [{}, CONSENTS], true],
    ["is withdrawn during the visit", [CONSENTS, REFUSES], false],
    [
      "is given after all, at a time",
      [
        { recording_consent: "false", recording_consent_at: "2026-01-31T09:00:00Z" },
        { ...CONSENTS, recording_consent_at: "2026-01-31T09:10:00Z" },
      ],
      true,
    ],
    ["is refused, and given after all nobody knows when", [REFUSES, CONSENTS], false],
    ["is in the first event only", [CONSENTS, {}], true],
    ["is never asked for", [{}, {}], null],
    ["is neither true nor false", [{ recording_consent: "yes" }, {}], null],
  ])("a consent that %s", (_, [first = {}, second = {}], consent) => {
    const { people } = inEveryOrder([
      started,
      joined("rita", 1_500, { attributes: first }),
      left("rita", 60_000, 1_500, { attributes: second }),
      finished(61_000),
    ]);
    expect(people).toMatchObject([{ recording_consent: consent }]);
  });

  const consenting = { attributes: CONSENTS };
  const refusing = { attributes: REFUSES };

  it.each<[string, string[]]>([
    [
      "when somebody comes back",
      [
        joined("rita", 1_500, consenting),
        left("rita", 60_000, 1_500, consenting),
        joined("rita", 61_500, refusing),
        left("rita", 90_000, 61_500, refusing),
      ],
    ],
    [
      "when somebody comes back, of which no event of leaving says anything",
      [
        joined("rita", 1_500, consenting),
        left("rita", 60_000, 1_500),
        joined("rita", 61_500, refusing),
        left("rita", 90_000, 61_500),
      ],
    ],
    [
      "by somebody who leaves in the second in which the room closes",
      [joined("rita", 8_000, consenting), left("rita", 91_000, 8_000, refusing)],
    ],
    [
      "before a new connection replaces the old one",
      [
        joined("rita", 1_500, consenting),
        left("rita", 61_100, 1_500, { ...refusing, ...REPLACED }),
        joined("rita", 60_900),
      ],
    ],
    [
      "by a new connection, while the old one has not left yet",
      [
        joined("rita", 1_500, consenting),
        joined("rita", 60_900, refusing),
        left("rita", 61_100, 1_500, consenting),
      ],
    ],
  ])("a consent that is withdrawn %s", (_, events) => {
    const { people } = inEveryOrder([...events, finished(91_000)]);
    expect(people).toMatchObject([{ recording_consent: false }]);
  });

  it("a room of which LiveKit does not say when it was made", () => {
    const events = [started, joined("rita", 1_500), left("rita", 60_000, 1_500), finished(121_000)].map(
      (event) => event.replace(/,"creationTime":"\d+"/, ""),
    );
    expect(events.join()).not.toContain("creationTime");
    expect(inEveryOrder(events).call).toMatchObject({ started_at: T0, ended_at: T0 + 121_000 });
  });

  it("a room that closes, opens and closes again", () => {
    const { call } = inEveryOrder([started, finished(121_000), finished(300_000)]);
    expect(call).toMatchObject({ ended_at: T0 + 300_000 });
  });

  it("a name and a role that only one event says", () => {
    const { people } = inEveryOrder([
      joined("paula", 1_500, { name: "Paula", attributes: PROVIDER }),
      left("paula", 60_000, 1_500),
      finished(61_000),
    ]);
    expect(people).toMatchObject([{ display_name: "Paula", role: "provider", user_id: MEMBER }]);
  });

  it("random long visits with duplicates", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(aVisit, ({ events, order }) => {
        const shuffled = order.map((n) => events[n % events.length] as string);
        expect(outcomeOf([...shuffled, ...events])).toEqual(outcomeOf(events));
        expect(outcomeOf([...events, ...shuffled])).toEqual(outcomeOf(events));
        expect(outcomeOf([...events].reverse())).toEqual(outcomeOf(events));
      }),
      { numRuns: 500 },
    );
  });
});

const something = fc.record(
  {
    name: fc.constantFrom("Rita", "Rita R.", ""),
    attributes: fc.record(
      {
        recording_consent: fc.constantFrom("true", "false", "?"),
        user_id: fc.constantFrom(`${MEMBER}`, "99", ""),
        role: fc.constantFrom("provider", "recipient", "guest", ""),
        external_reference: fc.constantFrom("patient-1", "patient-2", "", " "),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** An event may say something else than the one before, or nothing. */
const aSession = fc.record({
  away: fc.integer({ min: 1_000, max: 90_000 }),
  stays: fc.integer({ min: 1, max: 90_000 }),
  first: something,
  last: something,
});

const aPerson = fc.record({
  sessions: fc.array(aSession, { minLength: 1, maxLength: 3 }),
  leavesAtTheEnd: fc.boolean(),
});

const aVisit = fc
  .record({
    persons: fc.array(aPerson, { maxLength: 3 }),
    order: fc.array(fc.nat({ max: 1000 }), { maxLength: 40 }),
    pause: fc.constantFrom(0, 1_000),
  })
  .map(({ persons, order, pause }) => {
    let end = 1_000;
    const events = persons.flatMap(({ sessions, leavesAtTheEnd }, n) => {
      let at = 0;
      return sessions.flatMap(({ away, stays, first, last }, session) => {
        const from = at + away;
        at = from + stays;
        end = Math.max(end, at);
        const isThere = leavesAtTheEnd && session === sessions.length - 1;
        return [
          joined(`person-${n}`, from, first),
          ...(isThere ? [] : [left(`person-${n}`, at, from, last)]),
        ];
      });
    });
    return { events: [started, ...events, finished(end + pause)], order };
  });

describe("What the platform corrects", () => {
  const says = (fields: Omit<ReportOnCall, "key">): Correction => ({
    platform: { key: "rita", ...fields },
    reported_at: T0 + 30_000,
  });
  const consents = (recording_consent_at: string) => ({ ...CONSENTS, recording_consent_at });

  it("stays when somebody leaves with the attributes of the time of joining", () => {
    const said = { name: "Rita", attributes: PROVIDER };
    const corrected = {
      display_name: "Rita Recipient",
      role: "recipient" as const,
      user_id: null,
      recording_consent: false,
    };
    const { people } = outcomeOf([
      joined("rita", 1_500, said),
      says(corrected),
      left("rita", 60_000, 1_500, said),
      joined("rita", 70_000, said),
      joined("rita", 1_500, said),
      finished(121_000),
    ]);
    expect(people).toMatchObject([corrected]);
  });

  it("gives way to what LiveKit says otherwise", () => {
    const { people } = outcomeOf([
      joined("rita", 1_500, { name: "Rita", attributes: { role: "recipient" } }),
      says({ display_name: "R.", role: "provider", user_id: MEMBER }),
      left("rita", 60_000, 1_500, { name: "Dr. Rita", attributes: { role: "recipient" } }),
    ]);
    expect(people).toMatchObject([{ display_name: "Dr. Rita", role: "provider", user_id: MEMBER }]);
  });

  type Stories = Record<string, (string | Correction)[]>;

  const STILL_WITHDRAWN: Stories = {
    "the person joins again with the attributes of before": [
      joined("rita", 1, { attributes: CONSENTS }),
      says({ recording_consent: false }),
      joined("rita", 5_000, { attributes: CONSENTS }),
    ],
    "LiveKit says for the first time that the person consents, and not when": [
      joined("rita", 1),
      says({ recording_consent: false }),
      left("rita", 9, 1, { attributes: CONSENTS }),
    ],
    "LiveKit repeats a consent from the future": [
      joined("rita", 1, { attributes: consents("2126-01-31T09:30:00Z") }),
      says({ recording_consent: false }),
      left("rita", 9, 1, { attributes: consents("2126-01-31T09:30:00Z") }),
      joined("rita", 1, { attributes: consents("2126-01-31T09:30:00Z") }),
    ],
    "LiveKit says a consent without a time, and then the refusal again": [
      joined("rita", 1, { attributes: REFUSES }),
      says({ recording_consent: true, recording_consent_at: T0 + 1 }),
      left("rita", 9, 1, { attributes: CONSENTS }),
      joined("rita", 20, { attributes: REFUSES }),
    ],
  };

  const GIVEN_AGAIN: Stories = {
    "LiveKit says a later consent": [
      joined("rita", 1, { attributes: CONSENTS }),
      says({ recording_consent: false, recording_consent_at: T0 - 2_000 }),
      left("rita", 9, 1, { attributes: consents(new Date(T0 - 1_000).toISOString()) }),
    ],
    "the platform says a later consent, and LiveKit repeats the refusal": [
      joined("rita", 1, { attributes: REFUSES }),
      says({ recording_consent: true, recording_consent_at: T0 + 1_500 }),
      left("rita", 9, 1, { attributes: REFUSES }),
      joined("rita", 1, { attributes: REFUSES }),
    ],
  };

  it.each(Object.entries(STILL_WITHDRAWN))("leaves a consent withdrawn where %s", (_, events) => {
    expect(outcomeOf(events).people).toMatchObject([{ recording_consent: false }]);
  });

  it.each(Object.entries(GIVEN_AGAIN))("does not stand against a later consent: %s", (_, events) => {
    expect(outcomeOf(events).people).toMatchObject([{ recording_consent: true }]);
  });

  it("of a consent, a time that cannot be used or that is not there yet counts as none, or as now", () => {
    const said = (recording_consent_at: string) =>
      joined("rita", 1, { attributes: { recording_consent: "false", recording_consent_at } });
    for (const event of [said("yesterday"), said("2126-01-31T09:30:00Z")])
      expect(
        outcomeOf([event, says({ recording_consent: true, recording_consent_at: T0 + 1_500 })]),
      ).toMatchObject({ people: [{ recording_consent: true }] });
  });
});

it("An event that says no time takes the time at which it comes first", () => {
  const room = { sid: "RM_1", name: "clinic--visit-1", metadata };
  const timeless = (event: string) => JSON.stringify({ event, room, participant: { identity: "rita" } });
  const visit = ["participant_joined", "participant_left", "room_finished"].map(timeless);
  const { call, people } = outcomeOf(visit);
  expect({ call, people }).toMatchObject({
    call: { started_at: NOW, ended_at: NOW + 2 },
    people: [{ key: "rita", joined_at: null, left_at: NOW + 1 }],
  });
  expect(outcomeOf([...visit, ...visit])).toEqual({ call, people });
});

describe("Of those in a room,", () => {
  it.each([
    ["an egress", "EG_8oTjKXHjCqyD", { kind: ParticipantInfo_Kind.EGRESS }],
    ["an ingress", "camera", { kind: ParticipantInfo_Kind.INGRESS }],
    ["an agent", "scribe", { kind: ParticipantInfo_Kind.AGENT }],
  ])("%s is nobody", (_, identity, said) => {
    const { call, people } = outcomeOf([joined(identity, 1_000, said), left(identity, 2_000, 1_000, said)]);
    expect({ key: call?.key, people }).toEqual({ key: "RM_1", people: [] });
  });

  it("somebody whose identity looks like an egress is a participant", () => {
    expect(outcomeOf([joined("EG_8oTjKXHjCqyD", 1_000)]).people).toHaveLength(1);
  });

  it("somebody on the phone is a participant", () => {
    expect(outcomeOf([joined("sip_1", 1_000, { kind: ParticipantInfo_Kind.SIP })]).people).toHaveLength(1);
  });

  it("somebody whose connection was aborted was never there", () => {
    const aborted = anEvent("participant_connection_aborted", T0 + 1_000, "rita");
    expect(outcomeOf([aborted])).toMatchObject({ call: { key: "RM_1" }, people: [] });
  });

  it.each([
    ["no name is called by the identity", { name: "" }, { display_name: "rita", role: "recipient" }],
    ["a role that is unknown is a recipient", { attributes: { role: "nurse" } }, { role: "recipient" }],
    [
      "a user who is not of the organization is no user",
      { attributes: { user_id: "99" } },
      { user_id: null },
    ],
    ["a user who is no number is no user", { attributes: { user_id: "x" } }, { user_id: null }],
    ["no consent was not asked", {}, { recording_consent: null }],
  ])("one with %s", (_, said, expected) => {
    expect(outcomeOf([joined("rita", 1_000, said)]).people).toMatchObject([{ key: "rita", ...expected }]);
  });

  it("one who has been on another call under the same identity has another key, and counts for consent", () => {
    const elsewhere = { ...RITA_WAITS, call_id: 99, left_at: T0 - 1, recording_consent: true };
    const { people } = inEveryOrder(
      [joined("rita", 1_000), left("rita", 2_000, 1_000), finished(3_000)],
      [elsewhere],
    );
    expect(people).toEqual([
      expect.objectContaining({ key: "RM_1:rita", call_id: CALL_ID, recording_consent: null }),
      withoutHistory(elsewhere),
    ]);
  });

  it("one with an identity that is too long for a key counts for consent too", () => {
    const { people } = outcomeOf([joined("x".repeat(256), 1_000)]);
    expect(people).toMatchObject([{ key: expect.stringMatching(/^PA_/) }]);
  });
});
