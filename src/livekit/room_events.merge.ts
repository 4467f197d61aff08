import type { ParticipantRole } from "../database/enums.ts";
import { MAX_CONSENT_DECISIONS } from "../limits.ts";
import type { CallReport } from "../resources/calls/calls.merge.ts";
import type { Call } from "../resources/calls/calls.schemas.ts";
import type { KnownConsent } from "../resources/consents/consents.schemas.ts";
import type { Participant, ReportOnCall } from "../resources/participants/participants.schemas.ts";
import { leaveAtEnd } from "../resources/participants/participants.stays.ts";
import { type NamedVisit, plannedOf } from "../resources/visits/visits.reports.ts";
import { REMEMBERED_CONNECTIONS } from "../tuning.ts";
import type { RoomEvent, Visitor } from "./events.ts";

/** What is known when something happens in a room. */
export interface KnownOfRoom {
  call: Call | undefined;
  /** The organization's participants with one of the visitor's keys. */
  participants: Participant[];
  /** Their decisions on consent, in the order in which they were reported. */
  consents: KnownConsent[];
  /** The visitor's user_id, if it is a user of the organization. */
  members: Set<number>;
  /** The visits that the visitor's keys name. */
  planned: NamedVisit[];
}

/**
 * What to report of an event. The first one makes the call. Later ones report only who joined or left, and the end, so
 * that they take back no correction by the platform.
 */
export function reportOfRoomEvent(event: RoomEvent, known: KnownOfRoom): CallReport {
  const { waiting_room_slug, organization_user_id, started_at, external_reference, said_at, visitor } = event;
  const { call } = known;
  // Nobody has reported an end that was assumed.
  const knownEnd = call?.end_is_assumed ? null : call?.ended_at;
  const ended_at = knownEnd && !event.has_time ? undefined : event.ended_at;
  return {
    ...(!call && { waiting_room_slug, organization_user_id, started_at }),
    ...(call && startsEarlier(event, call) && { started_at }),
    // LiveKit writes whole seconds, so a short call may seem to end before it began. A room may open and close again.
    ...(ended_at !== undefined && {
      ended_at: Math.max(ended_at, call?.started_at ?? started_at, knownEnd ?? 0),
    }),
    ...newsOf({ external_reference }, said_at, lastWordsOf(call)),
    ...(visitor && { participants: [reportVisitor(visitor, event, known)] }),
    reporter: "livekit",
    reported_at: event.reported_at,
  };
}

/** Without the time when the room was made, its call starts with the earliest event. */
const startsEarlier = ({ room_sid, has_start, has_time, started_at }: RoomEvent, call: Call): boolean =>
  call.key === room_sid && !has_start && has_time && started_at < call.started_at;

/**
 * What to report of somebody who joined or left, so that the events of a room lead to the same participant in every
 * order: LiveKit may send them late, and twice.
 *
 * - `joined_at` is the last time of joining. `left_at` is the last time of leaving, unless somebody joined after it.
 * - The name, the role, the user and the reference are each those of the last event that says them. What LiveKit says again, as it does
 *   when somebody leaves, is no news: so what the platform has corrected stays.
 */
function reportVisitor(
  visitor: Visitor,
  { has_time, room_sid, happened_at }: RoomEvent,
  known: KnownOfRoom,
): ReportOnCall {
  const { call, participants, members, planned } = known;
  const key = keyOf(visitor, call, participants);
  const found = participants.find((each) => each.key === key);
  const before = found?.erased_at === null ? found : undefined;
  const knownLeft = before && leftByReport(before, call);
  const joined_at = latest(before?.joined_at, visitor.joined_at);
  const counts = (left?: number | null): left is number =>
    typeof left === "number" && left >= (joined_at ?? 0);
  // An event that says no time changes nothing when it is repeated.
  const left_at = !has_time && counts(knownLeft) ? knownLeft : latest(knownLeft, visitor.left_at);
  const { display_name, role, external_reference, said_at } = visitor;
  const user_id = visitor.user_id && members.has(visitor.user_id) ? visitor.user_id : undefined;
  const lastWords = lastWordsOf(before);
  const words = { display_name, role, user_id, external_reference };
  const ledger = known.consents.filter(({ participant_id }) => participant_id === found?.id);
  const { consent, consents } = consentOf(visitor, lastWords.consents, ledger);
  const [identity] = visitor.keys;
  const isByName = call !== undefined && call.key !== room_sid;
  const earliest = before?.call_id === call?.id ? before?.joined_by_name_at : happened_at;
  return {
    key,
    ...(isByName && typeof earliest === "number" && { joined_by_name_at: Math.min(earliest, happened_at) }),
    ...(!before && !plannedOf(planned, key) && { display_name: identity, role: "recipient" }),
    ...(joined_at !== undefined && { joined_at }),
    // The clock of the waiting room may be ahead of LiveKit's, which writes whole seconds.
    ...(counts(left_at) && { left_at: Math.max(left_at, before?.waiting_since ?? 0) }),
    ...newsOf(words, said_at, lastWords, consents),
    ...consent,
  };
}

/** What LiveKit said last of each field of a participant, or of a call, and when it said that. */
interface LastWords {
  display_name?: [string, said_at: number];
  role?: [ParticipantRole, said_at: number];
  user_id?: [number, said_at: number];
  external_reference?: [string, said_at: number];
  /** Those of the last connections, in their order. */
  consents?: ConsentWord[];
}

const lastWordsOf = (row: { livekit_said: string | null } | undefined): LastWords =>
  JSON.parse(row?.livekit_said ?? "{}");

type Words = {
  [Field in Exclude<keyof LastWords, "consents">]?: LastWords[Field] extends [infer Word, number] | undefined
    ? Word | undefined
    : never;
};

/**
 * Of what an event says, that on which no later one has had a word yet, and which differs from the word before.
 *
 * @param consents what LiveKit has said of consent, with this event
 */
function newsOf(
  words: Words,
  said_at: number,
  before: LastWords,
  consents: LastWords["consents"] = before.consents,
): Partial<ReportOnCall> {
  const fields = Object.keys(words) as (keyof Words)[];
  const latest = fields.filter((field) => words[field] !== undefined && said_at > (before[field]?.[1] ?? -1));
  if (latest.length === 0 && consents === before.consents) return {};
  const news = latest.filter((field) => words[field] !== before[field]?.[0]);
  const said = { ...before, ...Object.fromEntries(latest.map((field) => [field, [words[field], said_at]])) };
  const inOrder = fields.map((field) => [field, said[field]]).filter(([, word]) => word !== undefined);
  return {
    ...Object.fromEntries(news.map((field) => [field, words[field]])),
    livekit_said: JSON.stringify({ ...Object.fromEntries(inOrder), ...(consents && { consents }) }),
  };
}

/** What LiveKit said of consent on a connection: the decision, and when it was made, if it said that. */
type ConsentWord = [
  connection: string,
  said_at: number,
  recording_consent: boolean,
  recording_consent_at: number | null,
];

/**
 * The decision on consent of which an event tells; nothing where LiveKit repeats what it said last on this connection, as
 * it does with every event of one. On another connection, a refusal is one again.
 *
 * @returns with what LiveKit said last on each connection
 */
function consentOf(
  { connection, said_at, consent }: Visitor,
  words: ConsentWord[] = [],
  ledger: KnownConsent[],
): { consent: Visitor["consent"]; consents: ConsentWord[] } {
  const { recording_consent, recording_consent_at: at = null } = consent;
  if (recording_consent === undefined) return { consent: {}, consents: words };
  const known = words.find(([of]) => of === connection);
  const isRepeated = known?.[2] === recording_consent && (at === null || at === known[3]);
  const isTaken = !isRepeated && (!recording_consent || ledger.length < MAX_CONSENT_DECISIONS);
  const isLatest = !known || said_at > known[1];
  const others = words.filter((each) => each !== known);
  const next: ConsentWord[] = [...others, [connection, said_at, recording_consent, at]];
  return {
    consent: isTaken ? consent : {},
    consents: isLatest
      ? next.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)).slice(-REMEMBERED_CONNECTIONS)
      : words,
  };
}

/** Somebody who has been on another call under the first key is a new participant here, whose consent counts. */
function keyOf({ keys }: Visitor, call: Call | undefined, participants: Participant[]): string {
  const [own, other] = keys;
  const callId = participants.find(({ key }) => key === own)?.call_id ?? null;
  return callId === null || callId === call?.id ? own : other;
}

/** When somebody left, as far as a report said so: not where they left only because the call ended. */
function leftByReport(known: Participant, call: Call | undefined): number | null {
  const { left_at, left_is_assumed, call_id } = known;
  if (left_is_assumed) return null;
  if (!call || call.ended_at === null || call_id !== call.id) return left_at;
  return leaveAtEnd({ ...known, left_at: null }, call.ended_at, 0).left_at === left_at ? null : left_at;
}

function latest(...times: (number | null | undefined)[]): number | undefined {
  const known = times.filter((time) => typeof time === "number");
  return known.length > 0 ? Math.max(...known) : undefined;
}
