import { isDeepStrictEqual } from "node:util";
import { DisconnectReason, ParticipantInfo_Kind, WebhookEvent } from "@livekit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CallReport, mergeCall } from "../../../src/calls/calls/calls.merge.ts";
import type { ReportedCall } from "../../../src/calls/calls/calls.schemas.ts";
import type { KnownConsent } from "../../../src/calls/consents/consents.schemas.ts";
import type { Participant, ReportOnCall } from "../../../src/calls/participants/participants.schemas.ts";
import { MAX_LIVEKIT_ROOM_NAME_LENGTH, MAX_LIVEKIT_SID_LENGTH } from "../../../src/limits.ts";
import { stayOf } from "../../../src/livekit/connections.ts";
import { translate } from "../../../src/livekit/events.ts";
import {
  closingAfter,
  type KnownOfRoom,
  mergeAbsence,
  reportOfRoomEvent,
  visitorIn,
} from "../../../src/livekit/room_events.merge.ts";
import type { Connection } from "../../../src/livekit/rooms.table.ts";
import { recordingConsent } from "../support/consents.ts";
import { CALL_AS_MADE, changed, type Known, personOf, RITA } from "../support/rows.ts";

const T0 = Date.parse("2026-01-31T09:30:00Z");
/** When the events arrive. */
const NOW = T0 + 3_600_000;
const ROOM = { id: 7 };
const CALL_ID = 21;
const MEMBER = 5;
const OWNER = 11;

const metadata = JSON.stringify({ waiting_room_slug: "clinic--cardiology", organization_user_id: OWNER });

interface Said {
  name?: string;
  attributes?: Record<string, string>;
  joinedAtMs?: number;
  kind?: ParticipantInfo_Kind;
  permission?: { recorder: boolean };
  disconnectReason?: DisconnectReason;
}

/** An event as LiveKit writes it, with `createdAt` in whole seconds. */
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

const comes = (at: number, said?: Said) => joined("rita", at, said);
const goes = (at: number, joinedAt: number, said?: Said) => left("rita", at, joinedAt, said);

/** A report by the platform between two events. */
interface Correction {
  platform: ReportOnCall;
  call?: CallReport;
  reported_at: number;
}

/** The call and the participants after the events, in this order. The clock advances with every event. */
function outcomeOf(events: (string | Correction)[], waiting: Known[] = []) {
  let call: ReportedCall | undefined;
  let memory: KnownOfRoom["memory"];
  const ledger: KnownConsent[] = [];
  const participants = new Map(waiting.map((each) => [each.key, each]));
  const connections = new Map<string, Connection[]>();
  for (const [n, event] of events.entries()) {
    const now = NOW + n;
    const visit = typeof event === "string" ? visitOf(event, now) : undefined;
    if (typeof event === "string" && !visit) continue;
    const keys = visit ? (visit.visitor?.keys ?? []) : [(event as Correction).platform.key];
    const everybody = [...participants.values()];
    const asksForAll = visit?.closed_at !== undefined || visit?.visitor?.came === false || memory;
    const people = asksForAll ? everybody.filter(({ call_id }) => call && call_id === CALL_ID) : [];
    const known = {
      organization_id: 1,
      room: ROOM,
      members: new Set([OWNER, MEMBER]),
      planned: [],
      call,
      memory,
      consents: ledger,
      everyone: people,
      present: people,
      connectionsOf: (key: string) => connections.get(key) ?? [],
      people: everybody.map(personOf),
      participants: everybody.filter(({ key }) => keys.includes(key)),
      refusalsOf: () => [],
    };
    const person = visit && visitorIn(visit, known);
    const remember = (ended_at: number | null | undefined) => {
      const closed_at = visit && closingAfter(visit, known);
      if (closed_at) memory = { closed_at, call_ended_at: ended_at ?? memory?.call_ended_at ?? null };
      if (person) connections.set(person.key, person.connections);
    };
    if (visit && !person && !call) {
      remember(null);
      continue;
    }
    if (visit && person && !stayOf(person.connections)) {
      const absence = mergeAbsence(visit, known, person, now);
      if (!absence) continue;
      const before = participants.get(person.key);
      if (before) participants.set(person.key, { ...before, ...absence.participant });
      call = call && !absence.is_last ? { ...call, ...absence.times } : undefined;
      remember(absence.times.ended_at);
      continue;
    }
    const report = visit ? reportOfRoomEvent(visit, known, person) : platformReport(event as Correction);
    const next = mergeCall(known, "RM_1", report, now);
    remember(report.ended_at);
    call = { ...CALL_AS_MADE, ...next.call, id: CALL_ID };
    for (const each of changed(next, everybody)) {
      const id = idOf(each.key);
      participants.set(each.key, { ...each, id, person_id: id, call_id: CALL_ID });
    }
    for (const { participant_key, said_at = null, ...each } of next.consents)
      ledger.push({ ...each, said_at, participant_id: idOf(participant_key) });
    for (const each of participants.values()) {
      const own = ledger.filter(({ participant_id }) => participant_id === each.id);
      if (own.length > 0) each.recording_consent = recordingConsent(own);
    }
  }
  // A participant who was taken off the call is shown nowhere.
  const people = [...participants.values()]
    .filter(({ call_id, left_at }) => call_id !== null || left_at === null)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    call: call && { ...withoutTimestamps(call), results_awaited_since: null },
    people: people.map(withoutHistory),
  };
}

const platformReport = ({ platform, call, reported_at }: Correction): CallReport => ({
  ...call,
  participants: [platform],
  reported_at,
});

function visitOf(event: string, now: number) {
  const translation = translate(JSON.parse(event), now);
  return "room" in translation ? translation.room : undefined;
}

/** An id that does not depend on the order of the events. */
const idOf = (key: string) =>
  [...key].reduce((id, character) => id * 31 + (character.codePointAt(0) ?? 0), 7) % 1e9;

const withoutTimestamps = <Row extends { created_at: number; updated_at: number }>(row: Row) => ({
  ...row,
  created_at: 0,
  updated_at: 0,
});

/** A participant without the earlier stay, which depends on the order of the events. */
const withoutHistory = ({ earlier_stay_until: _, ...known }: Participant) => withoutTimestamps(known);

function* permutations<T>(list: T[]): Generator<T[]> {
  if (list.length < 2) yield list;
  for (const [n, first] of list.entries())
    for (const rest of permutations(list.filter((_, other) => other !== n))) yield [first, ...rest];
}

/** Expects the same outcome in every order, and returns it. */
function inEveryOrder(events: string[], waiting: Known[] = []) {
  const expected = outcomeOf(events, waiting);
  for (const order of permutations(events)) {
    const result = outcomeOf(order, waiting);
    if (!isDeepStrictEqual(result, expected))
      expect({ order: order.map((each) => JSON.parse(each).id), result }).toEqual({ result: expected });
  }
  return expected;
}

const RITA_WAITS: Known = {
  ...RITA,
  waiting_room_id: 8,
  display_name: "Rita Recipient",
  waiting_since: T0 - 60_000,
};

const CONSENTS = { recording_consent: "true" };
const REFUSES = { recording_consent: "false" };
const PROVIDER = { role: "provider", user_id: String(MEMBER), recording_consent: "true" };

describe("mergeCall, with the events of a visit in any order", () => {
  it("records two people who join and leave, with a name and a role that only one event has", () => {
    const { call, people } = inEveryOrder([
      started,
      joined("paula", 1_200, { name: "Paula", attributes: PROVIDER }),
      comes(5_700),
      goes(600_000, 5_700),
      left("paula", 605_000, 1_200),
      finished(606_000),
    ]);
    const times = { started_at: T0 + 1_200, ended_at: T0 + 605_000 };
    expect(call).toMatchObject({ key: "RM_1", waiting_room_id: ROOM.id, ...times });
    const paula = { key: "paula", display_name: "Paula", role: "provider", user_id: MEMBER };
    expect(people).toMatchObject([
      { ...paula, joined_at: T0 + 1_200, left_at: T0 + 605_000 },
      { key: "rita", role: "recipient", user_id: null, joined_at: T0 + 5_700, left_at: T0 + 600_000 },
    ]);
  });

  const COMES_BACK = [comes(1_500), goes(60_000, 1_500), comes(61_300)];
  const TWICE = [comes(1_500), comes(1_500), goes(20_000, 1_500), goes(60_000, 1_500)];
  const REPLACED = { disconnectReason: DisconnectReason.DUPLICATE_IDENTITY };
  const reconnects = (said?: Said) => [comes(1_500), comes(60_900), goes(61_100, 1_500, said)];

  it.each<[string, string[], closes: number, joined_at: number, left_at: number]>([
    ["comes back", [...COMES_BACK, goes(120_000, 61_300)], 121_000, 61_300, 120_000],
    ["comes back, and is present when the room closes", COMES_BACK, 121_000, 61_300, 121_000],
    ["reconnects, which replaces the old connection", reconnects(REPLACED), 121_000, 60_900, 121_000],
    ["leaves an older connection", reconnects(), 121_000, 60_900, 121_000],
    ["leaves within a second", [comes(1_500), goes(1_900, 1_500)], 9_000, 1_500, 1_500],
    ["has two connections that began at the same time", TWICE, 61_000, 1_500, 60_000],
    ["leaves after the room has closed", [comes(1_500), goes(61_000, 1_500)], 60_000, 1_500, 61_000],
  ])("records someone who %s", (_, events, closes, joined_at, left_at) => {
    const { people } = inEveryOrder([started, ...events, finished(closes)]);
    expect(people).toMatchObject([{ key: "rita", joined_at: T0 + joined_at, left_at: T0 + left_at }]);
  });

  it("records someone who waited before", () => {
    const events = [comes(1_500, { name: "", attributes: CONSENTS }), goes(60_000, 1_500), finished(61_000)];
    const { people } = inEveryOrder(events, [RITA_WAITS]);
    expect(people).toEqual([
      {
        ...withoutHistory(RITA_WAITS),
        id: expect.any(Number),
        person_id: expect.any(Number),
        call_id: CALL_ID,
        waiting_room_id: ROOM.id,
        joined_at: T0 + 1_500,
        left_at: T0 + 60_000,
        recording_consent: true,
      },
    ]);
  });

  const at = (recording_consent_at: string) => ({ recording_consent_at });

  it.each([
    ["is given during the visit", [{}, CONSENTS], true],
    ["is withdrawn during the visit", [CONSENTS, REFUSES], false],
    [
      "is refused, then given at a known time",
      [
        { ...REFUSES, ...at("2026-01-31T09:00:00Z") },
        { ...CONSENTS, ...at("2026-01-31T09:10:00Z") },
      ],
      true,
    ],
    ["is refused, then given at an unknown time", [REFUSES, CONSENTS], false],
    ["is in the first event only", [CONSENTS, {}], true],
    ["is never asked for", [{}, {}], null],
    ["is neither true nor false", [{ recording_consent: "yes" }, {}], false],
  ])("records consent that %s", (_, [first = {}, second = {}], consent) => {
    const { people } = inEveryOrder([
      started,
      comes(1_500, { attributes: first }),
      goes(60_000, 1_500, { attributes: second }),
      finished(61_000),
    ]);
    expect(people).toMatchObject([{ recording_consent: consent }]);
  });

  const consenting = { attributes: CONSENTS };
  const refusing = { attributes: REFUSES };

  const consents = comes(1_500, consenting);
  const returns = comes(61_500, refusing);

  it.each<[string, string[]]>([
    ["by someone who comes back", [goes(60_000, 1_500, consenting), returns, goes(90_000, 61_500, refusing)]],
    [
      "by someone who comes back, if no leaving event mentions consent",
      [goes(60_000, 1_500), returns, goes(90_000, 61_500)],
    ],
    ["in the second in which the room closes", [goes(91_000, 1_500, refusing)]],
    [
      "before a new connection replaces the old one",
      [goes(61_100, 1_500, { ...refusing, ...REPLACED }), comes(60_900)],
    ],
    ["by a new connection, before the old one has left", [returns, goes(61_600, 1_500, consenting)]],
  ])("records consent that is withdrawn %s", (_, events) => {
    const { people } = inEveryOrder([consents, ...events, finished(91_000)]);
    expect(people).toMatchObject([{ recording_consent: false }]);
  });

  it("lets a person whose leaving is not reported leave when the room closes", () => {
    const { call, people } = inEveryOrder([
      comes(1_500),
      joined("paula", 2_000),
      left("paula", 60_000, 2_000),
      finished(121_000),
      finished(300_000),
    ]);
    expect(call).toMatchObject({ started_at: T0 + 1_500, ended_at: T0 + 300_000 });
    expect(people).toMatchObject([
      { key: "paula", left_at: T0 + 60_000, left_is_assumed: false },
      { key: "rita", left_at: T0 + 300_000, left_is_assumed: true },
    ]);
  });

  it("records nothing for an empty room", () => {
    expect(inEveryOrder([started, finished(300_000)])).toEqual({ call: undefined, people: [] });
  });

  it.each([
    DisconnectReason.USER_UNAVAILABLE,
    DisconnectReason.USER_REJECTED,
    DisconnectReason.SIP_TRUNK_FAILURE,
    DisconnectReason.JOIN_FAILURE,
  ])("does not put an unanswered phone on the call: %d", (disconnectReason) => {
    const phone = [joined("phone", 1_500), left("phone", 30_000, 1_500, { disconnectReason })];
    expect(inEveryOrder([...phone, finished(31_000)]).call).toBeUndefined();
    const paula = [joined("paula", 2_000), left("paula", 40_000, 2_000)];
    const { call, people } = inEveryOrder([...phone, ...paula, finished(41_000)]);
    expect(call).toMatchObject({ started_at: T0 + 2_000, ended_at: T0 + 40_000 });
    expect(people).toMatchObject([{ key: "paula", call_id: CALL_ID }]);
  });

  it("records a phone that is answered at the second attempt", () => {
    const unanswered = { disconnectReason: DisconnectReason.USER_UNAVAILABLE };
    const { people } = inEveryOrder([
      joined("phone", 1_500),
      left("phone", 30_000, 1_500, unanswered),
      joined("phone", 35_000),
      left("phone", 60_000, 35_000),
      finished(61_000),
    ]);
    expect(people).toMatchObject([
      { key: "phone", call_id: CALL_ID, joined_at: T0 + 35_000, left_at: T0 + 60_000 },
    ]);
  });

  it("has the same outcome for random long visits with duplicates", { timeout: 60_000 }, () => {
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

const some = <Fields>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(fields, { requiredKeys: [] });

/**
 * An event may say less than the one before. Apart from consent, every field has only one valid value: of several, the
 * first to arrive would count.
 */
const something = some({
  name: fc.constantFrom("Rita", ""),
  attributes: some({
    recording_consent: fc.constantFrom("true", "false", "?"),
    user_id: fc.constantFrom(`${MEMBER}`, "99", ""),
    role: fc.constantFrom("provider", "guest", ""),
    external_reference: fc.constantFrom("patient-1", "", " "),
  }),
});

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

// test/unit/calls/consents.merge.test.ts has the order of consents and refusals.
describe("A correction by the platform", () => {
  const says = (fields: Omit<ReportOnCall, "key">): Correction => ({
    platform: { key: "rita", ...fields },
    reported_at: T0 + 30_000,
  });

  it("stays when someone leaves with the attributes from joining", () => {
    const said = { name: "Rita", attributes: PROVIDER };
    const person = { display_name: "Rita Recipient", role: "recipient" as const, user_id: null };
    const corrected = { ...person, recording_consent: false };
    const later = [goes(60_000, 1_500, said), comes(70_000, said), comes(1_500, said), finished(121_000)];
    const { people } = outcomeOf([comes(1_500, said), says(corrected), ...later]);
    expect(people).toMatchObject([corrected]);
  });

  it("stays when LiveKit reports something else later", () => {
    const attributes = { role: "recipient" };
    const corrected = { display_name: "R.", role: "provider" as const, user_id: MEMBER };
    const leaves = goes(60_000, 1_500, { name: "Dr. Rita", attributes });
    const { people } = outcomeOf([comes(1_500, { name: "Rita", attributes }), says(corrected), leaves]);
    expect(people).toMatchObject([corrected]);
  });

  it.each([null, "visit-2"])(
    "of the call's reference to %j stays, whatever the room's metadata says",
    (reference) => {
      const event = JSON.parse(comes(1_500));
      const said = { ...JSON.parse(metadata), external_reference: "visit-1" };
      const named = JSON.stringify({ ...event, room: { ...event.room, metadata: JSON.stringify(said) } });
      expect(outcomeOf([named]).call).toMatchObject({ external_reference: "visit-1" });
      const corrected = { ...says({}), call: { external_reference: reference } };
      expect(outcomeOf([named, corrected, named]).call).toMatchObject({ external_reference: reference });
    },
  );

  it("gives consent after a refusal whose time is invalid or in the future", () => {
    const said = (recording_consent_at: string) =>
      comes(1, { attributes: { recording_consent: "false", recording_consent_at } });
    const granted = says({ recording_consent: true, recording_consent_at: T0 + 1_500 });
    for (const refused of [said("yesterday"), said("2126-01-31T09:30:00Z")])
      expect(outcomeOf([refused, granted]).people).toMatchObject([{ recording_consent: true }]);
  });
});

it("An event without a time takes the time of its first arrival", () => {
  const room = { sid: "RM_1", name: "clinic--visit-1", metadata };
  const timeless = (event: string) => JSON.stringify({ event, room, participant: { identity: "rita" } });
  const visit = ["participant_joined", "participant_left", "room_finished"].map(timeless);
  const { call, people } = outcomeOf(visit);
  expect(call).toMatchObject({ started_at: NOW, ended_at: NOW + 1 });
  expect(people).toMatchObject([{ key: "rita", joined_at: NOW, left_at: NOW + 1 }]);
  expect(outcomeOf([...visit, ...visit])).toEqual({ call, people });
});

it.each([
  ...["true", "True", "TRUE"].map((text) => [text, true, false] as const),
  ["false", false, false] as const,
  ...["False", "0", "no", " false", "yes", "true.", "1"].map((text) => [text, false, true] as const),
  ["", undefined, false] as const,
])("The consent %j is read as %j, and is unclear: %j", (text, recording_consent, is_consent_unclear) => {
  const event = comes(1, { attributes: { recording_consent: text } });
  expect(translate(JSON.parse(event), NOW)).toMatchObject({
    room: { visitor: { consent: { recording_consent } } },
    faults: { is_consent_unclear },
  });
});

it.each([
  ["room", "sid", MAX_LIVEKIT_SID_LENGTH],
  ["room", "name", MAX_LIVEKIT_ROOM_NAME_LENGTH],
  ["participant", "sid", MAX_LIVEKIT_SID_LENGTH],
] as const)("The %s's %s may have %i characters, and not one more", (of, field, length) => {
  const event = JSON.parse(comes(1));
  const withLength = (size: number) =>
    translate({ ...event, [of]: { ...event[of], [field]: event[of][field].padEnd(size, "x") } }, NOW);
  expect(withLength(length)).toHaveProperty("room");
  expect(withLength(length + 1)).toMatchObject({ unusable: "malformed" });
});

describe("The participants of a room", () => {
  it.each([
    ["an egress", "EG_8oTjKXHjCqyD", { kind: ParticipantInfo_Kind.EGRESS }],
    ["an ingress", "camera", { kind: ParticipantInfo_Kind.INGRESS }],
    ["an agent", "scribe", { kind: ParticipantInfo_Kind.AGENT }],
    ["a camera", "camera", { kind: ParticipantInfo_Kind.BRIDGE }],
    ["another recorder", "recorder", { permission: { recorder: true } }],
  ])("do not include %s", (_, identity, said) => {
    const events = [joined(identity, 1_000, said), left(identity, 2_000, 1_000, said)];
    expect(outcomeOf(events)).toEqual({ call: undefined, people: [] });
  });

  it("include someone on the phone, or whose identity looks like an egress", () => {
    const onThePhone = joined("sip_1", 1_000, { kind: ParticipantInfo_Kind.SIP });
    const { people } = outcomeOf([joined("EG_8oTjKXHjCqyD", 1_000), onThePhone]);
    expect(people).toHaveLength(2);
  });

  it("were never on the call if their connection was aborted", () => {
    const aborted = anEvent("participant_connection_aborted", T0 + 1_000, "rita", { joinedAtMs: T0 + 500 });
    expect(outcomeOf([aborted])).toEqual({ call: undefined, people: [] });
  });

  it.each([
    ["no name: the identity", { name: "" }, { display_name: "rita", role: "recipient" }],
    ["an unknown role: recipient", { attributes: { role: "nurse" } }, { role: "recipient" }],
    ["a user of another organization: no user", { attributes: { user_id: "99" } }, { user_id: null }],
    ["a user id that is not a number: no user", { attributes: { user_id: "x" } }, { user_id: null }],
    ["no consent: not asked", {}, { recording_consent: null }],
  ])("have a default for %s", (_, said, expected) => {
    expect(outcomeOf([comes(1_000, said)]).people).toMatchObject([{ key: "rita", ...expected }]);
  });

  it("get a new key, and count for consent, if they were on another call under the same identity", () => {
    const elsewhere = { ...RITA_WAITS, call_id: 99, left_at: T0 - 1, recording_consent: true };
    const { people } = inEveryOrder([comes(1_000), goes(2_000, 1_000), finished(3_000)], [elsewhere]);
    expect(people).toEqual([
      expect.objectContaining({ key: "RM_1:rita", call_id: CALL_ID, recording_consent: null }),
      withoutHistory(elsewhere),
    ]);
  });

  it("get another key, and count for consent, if their identity is too long", () => {
    const { people } = outcomeOf([joined("x".repeat(256), 1_000)]);
    expect(people).toMatchObject([{ key: expect.stringMatching(/^PA_/) }]);
  });
});
