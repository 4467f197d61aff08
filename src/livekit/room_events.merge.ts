import type { CallReport } from "../calls/calls/calls.merge.ts";
import type { ReportedCall } from "../calls/calls/calls.schemas.ts";
import type { NewEarlyRefusal } from "../calls/consents/consents.sql.ts";
import { recordOf } from "../calls/participants/participants.merge.ts";
import type { Participant, ReportOnCall } from "../calls/participants/participants.schemas.ts";
import { isAfter, type Times } from "../calls/participants/participants.stays.ts";
import { withoutUndefined } from "../http/wire.ts";
import type { Person } from "../rooms/people/people.sql.ts";
import { type NamedVisit, plannedOf } from "../rooms/visits/visits.reports.ts";
import { type Stay, stayOf, withConnection } from "./connections.ts";
import type { RoomEvent, Visitor } from "./events.ts";
import type { Connection } from "./rooms.table.ts";

export interface KnownOfRoom {
  call: ReportedCall | undefined;
  /** Undefined if no event has closed the room. */
  memory: { closed_at: number; call_ended_at: number | null } | undefined;
  participants: Participant[];
  /** Everyone on the call if the room is closed or closing, or the visitor never came; otherwise empty. */
  everyone: Participant[];
  connectionsOf: (key: string) => Connection[];
  /** The records of these participants, and those that visits plan under the visitor's keys. */
  people: Person[];
  members: Set<number>;
  planned: NamedVisit[];
}

/** The participant of an event, with their row before it and their connections before and after it. */
export interface KnownVisitor {
  key: string;
  /** Undefined for a new or erased participant. */
  before: Participant | undefined;
  is_erased: boolean;
  earlier: Connection[];
  connections: Connection[];
  /** Whether the event adds nothing to the connections. */
  is_repeated: boolean;
}

export function visitorIn({ visitor }: RoomEvent, known: KnownOfRoom): KnownVisitor | undefined {
  if (!visitor) return undefined;
  const key = keyOf(visitor, known);
  const found = known.participants.find((each) => each.key === key);
  const before = found?.erased_at === null ? found : undefined;
  // Coming after an erased wait makes a new participant.
  const isNew = !found || (found.call_id === null && isAfter(visitor.joined_at ?? visitor.at, found.left_at));
  const earlier = known.connectionsOf(key);
  const connections = withConnection(earlier, visitor);
  const is_repeated = JSON.stringify(connections) === JSON.stringify(earlier);
  return { key, before, is_erased: !before && !isNew, earlier, connections, is_repeated };
}

/** Uses the second key if the first belongs to a participant of another call: on this call, they are a new participant. */
function keyOf({ keys: [own, other] }: Visitor, { call, participants }: KnownOfRoom): string {
  const callId = participants.find(({ key }) => key === own)?.call_id ?? null;
  return callId === null || callId === call?.id ? own : other;
}

/**
 * The report that an event amounts to. The call begins when the first person came and, once the room is closed, ends
 * when the last one left. The room's closing time is used only for people whose leaving was never reported.
 */
export function reportOfRoomEvent(
  event: RoomEvent,
  known: KnownOfRoom,
  person: KnownVisitor | undefined,
): CallReport {
  const { call } = known;
  const report = person && event.visitor ? reportVisitor(event.visitor, person, known) : undefined;
  return {
    ...(!call && "waiting_room_slug" in event.metadata && event.metadata),
    ...timesOfCall(event, known, person),
    ...(event.external_reference !== undefined &&
      (call?.external_reference ?? call?.reference_said_by ?? null) === null && {
        external_reference: event.external_reference,
      }),
    ...(report && { participants: [report] }),
    reporter: "observer",
    reported_at: event.reported_at,
  };
}

/** The changes to the call, and to the participant if they are known; undefined if nothing changes. */
export function mergeAbsence(event: RoomEvent, known: KnownOfRoom, person: KnownVisitor, now: number) {
  const { before, is_erased, connections, is_repeated } = person;
  if (is_erased || (is_repeated && !before?.call_id)) return undefined;
  const ends = connections.map(([joined_at, left_at]) => left_at ?? joined_at);
  const { ended_at, ...times } = timesOfCall(event, known, person);
  return {
    participant: before && {
      ...before,
      call_id: null,
      call_started_at: null,
      joined_at: null,
      left_at: Math.max(...ends, before.waiting_since ?? 0),
      left_is_assumed: false,
      updated_at: now,
    },
    times: { ...times, ...(typeof ended_at === "number" && { ended_at, end_is_assumed: false }) },
    /** Whether the call has no other participant. */
    is_last: known.everyone.every(({ id }) => id === before?.id),
  };
}

export const closingAfter = ({ closed_at = 0 }: RoomEvent, { memory }: Pick<KnownOfRoom, "memory">) =>
  Math.max(closed_at, memory?.closed_at ?? 0) || undefined;

type TimesOfCall = { started_at?: number; ended_at?: number };

/** The times of the call that an event changes. Times that the platform has reported stay. */
function timesOfCall(event: RoomEvent, known: KnownOfRoom, person: KnownVisitor | undefined): TimesOfCall {
  // A repeated event would move the end, because the times of an erased person are gone.
  if (person?.is_erased) return {};
  const { call, memory, everyone } = known;
  const others = everyone.filter(({ id }) => id !== person?.before?.id).map((each) => timesOf(each, known));
  const own = person && stayOf(person.connections);
  const all = own ? [...others, own] : others;
  const isStartKnown = everyone.length > 0 || !call;
  const earliest = Math.min(
    ...all.flatMap(({ came_at }) => came_at ?? []),
    ...(isStartKnown ? [] : [call.started_at]),
  );
  const isOurs = !call || call.reported_at === 0;
  const started_at = isOurs && Number.isFinite(earliest) ? earliest : undefined;
  const start = started_at === undefined || started_at === call?.started_at ? {} : { started_at };
  const closed_at = closingAfter(event, known);
  const told_end = memory?.call_ended_at ?? null;
  const isEndOfPlatform =
    call && call.ended_at !== null && !call.end_is_assumed && call.ended_at !== told_end;
  const isRepeated = told_end !== null && closed_at === memory?.closed_at && (!person || person.is_repeated);
  if (closed_at === undefined || isEndOfPlatform || (call && isRepeated)) return start;
  const told = all.flatMap(({ left_at }) => left_at ?? []);
  const isAllTold = told.length === all.length && told.length > 0;
  const last = Math.max(...told, ...(isAllTold ? [] : [closed_at]));
  return { ...start, ended_at: Math.max(last, started_at ?? call?.started_at ?? 0) };
}

function timesOf({ key, joined_at, left_at, left_is_assumed }: Participant, { connectionsOf }: KnownOfRoom) {
  const stay = stayOf(connectionsOf(key));
  const hasLeft = stay ? stay.left_at !== null : !left_is_assumed;
  return { came_at: stay?.came_at ?? joined_at, left_at: hasLeft ? left_at : null };
}

function reportVisitor(visitor: Visitor, person: KnownVisitor, known: KnownOfRoom): ReportOnCall {
  const { key, before, connections } = person;
  const { display_name, role, external_reference } = visitor;
  const user_id = visitor.user_id && known.members.has(visitor.user_id) ? visitor.user_id : undefined;
  const words: Partial<ReportOnCall> = withoutUndefined({ display_name, role, user_id, external_reference });
  const isKnown = recordOf(known.people, before, plannedOf(known.planned, known.people, key)) !== undefined;
  const stay = person.is_repeated ? undefined : stayOf(connections);
  return {
    key,
    ...(!isKnown && withAssumed(visitor, words)),
    ...words,
    ...(stay && timesOfStay(person, stay)),
    ...visitor.consent,
  };
}

/**
 * The times of the newest connection, combined with the platform's reports: leaving a connection older than the stay
 * that the platform reported does not end that stay, and a connection without a known end does not bring back a person
 * who has left since it began.
 */
function timesOfStay({ before, earlier }: KnownVisitor, { joined_at, left_at }: Stay): Times | undefined {
  const waiting_since = before?.waiting_since ?? 0;
  const end = left_at && Math.max(left_at, waiting_since);
  // Leaving a waiting room is not leaving the call.
  if (!before || before.call_id === null) return { joined_at, left_at: end };
  const told = stayOf(earlier);
  const isLeftSaid = !before.left_is_assumed && before.left_at !== (told?.left_at ?? null);
  const said_left = isLeftSaid && !isAfter(joined_at, before.left_at) ? before.left_at : null;
  const said_joined = before.joined_at === told?.joined_at ? null : before.joined_at;
  if (isAfter(said_joined, end)) return undefined;
  return { joined_at: Math.max(joined_at, said_joined ?? 0), left_at: end ?? said_left };
}

/** The name and role of a new participant, assumed until they are reported. */
function withAssumed({ keys: [identity] }: Visitor, said: Partial<ReportOnCall>): Partial<ReportOnCall> {
  const assumed = { display_name: identity, role: "recipient" as const };
  const names = Object.keys(assumed).filter((name) => !(name in said));
  return { ...assumed, ...(names.length > 0 && { assumed: names.join(",") }) };
}

/**
 * The refused consent in an event, to keep until a report of the call names the person. For a room without a call, and for a
 * connection by which the person never came: then it hides no recording, but it counts if they come by another one.
 */
export function earlyRefusalIn(
  { room_sid, visitor, reported_at }: RoomEvent,
  digestOf: (key: string) => string,
): NewEarlyRefusal | undefined {
  if (visitor?.consent.recording_consent !== false || room_sid === "") return undefined;
  const { recording_consent_at: said_at = null, recording_consent_method: method = null } = visitor.consent;
  const [key_digest, other_digest] = visitor.keys.map(digestOf) as [string, string];
  const { came, joined_at, at } = visitor;
  // As in consents.merge.ts: the time of the decision or, without one, of the event.
  const decided_at = Math.min(said_at ?? reported_at, reported_at);
  return {
    ...{ call_key: room_sid, key_digest, other_digest, came, joined_at: joined_at ?? at },
    ...{ decided_at, said_at, method, reported_at },
  };
}
