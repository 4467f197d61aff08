import type * as z from "zod";
import { reviseRow } from "../../database/merging.ts";
import type { ApiError } from "../../http/errors.ts";
import {
  leftTooEarly,
  newParticipantIncomplete,
  participantIncomplete,
  participantLeftCall,
  participantNotMember,
  participantOnAnotherCall,
  participantsLeftTooEarly,
  participantsNotMembers,
  roomInactive,
  slugIsOld,
} from "./participants.refusals.ts";
import type {
  Participant,
  ParticipantReport,
  ParticipantRow,
  participantOnCall,
} from "./participants.schemas.ts";

/** What a report says of somebody on a call. Only LiveKit's API notes what LiveKit said. */
export type ReportOnCall = z.output<ReturnType<typeof participantOnCall>> &
  Partial<Pick<ParticipantRow, "livekit_said">>;

/** When somebody came and left, as far as a report says, and where: in a waiting room or on a call. */
type Times = Pick<ReportOnCall, "waiting_since" | "joined_at" | "left_at">;
type TimesInRoom = Omit<Times, "joined_at"> & { room_id: number };
type TimesOnCall = Times & { call_started_at: number };

/** What a report is about. `earlier_visit_until` is the end of the visit before, as far as it is known. */
export type Meaning = { earlier_visit_until: number | null } & (
  | { kind: "first"; known?: undefined }
  | { kind: "erased" | "late" | "return" | "correction"; known: Participant }
);

/**
 * What a report is about. Reports repeat and overtake each other. The first of these that fits:
 *
 * - `first`: somebody new. So is who begins another visit after having been erased, and was not on a call.
 * - `erased`: somebody erased. Whatever else is said of them is late.
 * - `late`: a visit before the known one, which ended before that began; of somebody who has left a call and joined it once
 *   more, what was before that.
 * - `return`: a visit after the known one, or joining a call once more. The report of leaving may still come.
 * - `correction`: the known visit.
 */
export function meaningOf(found: Participant | undefined, said: TimesInRoom | TimesOnCall): Meaning {
  if (!found) return { kind: "first", earlier_visit_until: null };
  const isInRoom = "room_id" in said;
  const since = said.waiting_since ?? (isInRoom ? null : (said.joined_at ?? said.call_started_at));
  const visit_until = found.left_at ?? found.waiting_since;
  const isNextVisit = found.call_id === null && isAfter(since, visit_until);
  if (found.erased_at !== null && isNextVisit) return { kind: "first", earlier_visit_until: visit_until };

  const known = { known: found, earlier_visit_until: found.earlier_visit_until };
  if (found.erased_at !== null) return { kind: "erased", ...known };
  if (isInRoom ? isOfVisitBefore(found, said) : isOfStayBefore(found, said))
    return { kind: "late", ...known };
  if (isInRoom && isNextVisit) return { kind: "return", known: found, earlier_visit_until: visit_until };
  if (!isInRoom && isAfter(said.joined_at, found.left_at)) return { kind: "return", ...known };
  return { kind: "correction", ...known };
}

function isOfVisitBefore(known: Participant, { room_id, waiting_since, left_at }: TimesInRoom): boolean {
  if (!isAfter(known.waiting_since, waiting_since)) return false;
  if (isAfter(known.waiting_since, left_at)) return true;
  const wasElsewhere = known.call_id === null && known.waiting_room_id !== room_id;
  return wasElsewhere || !isAfter(waiting_since, known.earlier_visit_until ?? Number.NEGATIVE_INFINITY);
}

function isOfStayBefore(known: Participant, { joined_at, left_at }: TimesOnCall): boolean {
  const { joined_event_at, left_event_at, earlier_left_event_at } = known;
  const hasRejoined = left_event_at === null && isAfter(joined_event_at, earlier_left_event_at);
  const since = joined_at ?? left_at;
  if (!hasRejoined || typeof since !== "number" || isAfter(since, earlier_left_event_at)) return false;
  return typeof left_at !== "number" || isAfter(joined_event_at, left_at);
}

/** False where one of the times is unknown. */
const isAfter = (time: number | null | undefined, other: number | null | undefined) =>
  typeof time === "number" && typeof other === "number" && time > other;

/** The fields of somebody of whom nothing is known. */
const NOBODY = {
  call_id: null,
  left_is_assumed: false,
  recording_consent: null,
  waiting_event_at: null,
  joined_event_at: null,
  left_event_at: null,
  earlier_left_event_at: null,
  erased_at: null,
};

/**
 * The next row for each kind of report, without what it says of the person. A `left_at` of null does not bring back
 * somebody who has left: reports can be late.
 */
function nextRow({ kind, known, earlier_visit_until }: Meaning, { left_at = null }: Times) {
  switch (kind) {
    case "first":
      return { ...NOBODY, left_at, earlier_visit_until };
    case "return":
      return { ...known, left_at, left_is_assumed: false, earlier_visit_until };
    case "correction":
      return left_at === null ? known : { ...known, left_at, left_is_assumed: false };
    default:
      return known;
  }
}

type Person = Pick<
  ParticipantRow,
  "display_name" | "role" | "user_id" | "external_reference" | "waiting_since" | "joined_at" | "livekit_said"
>;

/** What a report says of a person. A field left out stays as reported before, and null clears it. */
function personOf(
  known: Participant | undefined,
  report: { [Field in keyof Person]?: Person[Field] | undefined },
  incomplete: () => ApiError,
): Person {
  const {
    display_name,
    role,
    user_id = null,
    external_reference = null,
    waiting_since = null,
    joined_at = null,
    livekit_said = null,
  } = { ...known, ...report };
  if (display_name === undefined || role === undefined) throw incomplete();
  return { display_name, role, user_id, external_reference, waiting_since, joined_at, livekit_said };
}

/** What is known when somebody in a waiting room is reported. */
interface KnownInRoom {
  /** The room that has the slug of the path, or had it until it was renamed or retired. */
  room: { id: number; organization_id: number; is_active: boolean; slug_is_current: boolean };
  /** The participant with this key; undefined in the first report. */
  participant: Participant | undefined;
  /** Whether the report's user_id is a user of the organization. */
  isMember: boolean;
}

/**
 * What a report makes of somebody in a waiting room. A participant on a call stays in its room.
 *
 * @returns the known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself, or somebody would enter an inactive room; 404 if somebody new
 *   would enter by an old slug
 */
export function mergeParticipant(
  { room, participant, isMember }: KnownInRoom,
  key: string,
  report: ParticipantReport,
  now: number,
): ParticipantRow {
  const meaning = meaningOf(participant, { ...report, room_id: room.id });
  const { kind, known } = meaning;
  if (kind === "erased" && isAfter(report.waiting_since, known.left_at)) throw participantLeftCall();
  if (kind === "erased" || kind === "late") return known;
  if (kind === "first" && !room.slug_is_current) throw slugIsOld();

  const person = personOf(known, report, participantIncomplete);
  const row = nextRow(meaning, report);
  const { waiting_since, joined_at } = person;
  const { call_id, left_at } = row;
  if (kind === "first" && waiting_since === null) throw participantIncomplete();
  if (call_id !== null && isAfter(waiting_since, left_at)) throw participantLeftCall();
  if (isAfter(waiting_since, left_at) || isAfter(joined_at, left_at)) throw leftTooEarly();
  if (report.user_id && !isMember) throw participantNotMember();

  const waits = left_at === null && call_id === null;
  const enters = waits && !(known?.left_at === null && known.waiting_room_id === room.id);
  if (enters && !room.slug_is_current) throw slugIsOld();
  if (enters && !room.is_active) throw roomInactive();
  const waiting_room_id = kind === "correction" && !waits ? known.waiting_room_id : room.id;
  const fields = { ...row, ...person, organization_id: room.organization_id, key, waiting_room_id };
  const next = reviseRow(known, fields, now);
  return next === known ? known : withEventTimes(known, next);
}

/** What is known when somebody on a call is reported. */
export interface KnownOnCall {
  call: { id: number | null; organization_id: number; waiting_room_id: number; started_at: number };
  /** The organization's participants whom the report names, by key: those who wait, and those on the call. */
  participants: Map<string, Participant>;
  /** The user_ids of the report that are users of the organization. */
  members: Set<number>;
}

/**
 * What a call's report makes of the participants whom it names: those of the waiting room by the same key, or new
 * ones. What it says of their consent is in consents.merge.ts.
 *
 * @returns each known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeParticipantsOnCall(
  { call, participants, members }: KnownOnCall,
  reports: ReportOnCall[],
  now: number,
): ParticipantRow[] {
  const merged = reports.map((report) => {
    const said = { ...report, call_started_at: call.started_at };
    const meaning = meaningOf(participants.get(report.key), said);
    return { known: meaning.known, next: nextOnCall(meaning, report, call) };
  });
  if (reports.some(({ user_id }) => user_id && !members.has(user_id))) throw participantsNotMembers();
  if (merged.some(({ known }) => known?.call_id && known.call_id !== call.id))
    throw participantOnAnotherCall();
  if (
    merged.some(
      ({ next }) => isAfter(next.joined_at, next.left_at) || isAfter(next.waiting_since, next.left_at),
    )
  )
    throw participantsLeftTooEarly();
  return merged.map(({ known, next }) => reviseRow(known, next, now));
}

function nextOnCall(meaning: Meaning, report: ReportOnCall, call: KnownOnCall["call"]) {
  const { kind, known } = meaning;
  if (kind === "erased") return known;
  const { joined_at: _, left_at: __, ...others } = report;
  const said = kind === "late" ? others : report;
  return {
    ...nextRow(meaning, said),
    ...personOf(known, said, newParticipantIncomplete),
    organization_id: call.organization_id,
    key: report.key,
    waiting_room_id: call.waiting_room_id,
    call_id: call.id,
  };
}

/** What the end of a call does to somebody on it. */
type Leaving = Pick<
  ParticipantRow,
  "waiting_since" | "joined_at" | "left_at" | "left_is_assumed" | "updated_at"
>;

/**
 * A participant who is still there when a call ends has left then; one who came later left at once.
 *
 * @param end_is_assumed whether the end of the call is; then so is this
 */
export function leaveAtEnd<Known extends Leaving>(
  participant: Known,
  ended_at: number,
  now: number,
  end_is_assumed = false,
): Known {
  const { left_at, waiting_since, joined_at } = participant;
  if (left_at !== null) return participant;
  return {
    ...participant,
    left_at: Math.max(ended_at, joined_at ?? 0, waiting_since ?? 0),
    left_is_assumed: end_is_assumed,
    updated_at: now,
  };
}

/** The times with which a participant's events were written. The last is the end of the stay before the known one. */
type EventTimes = Pick<
  ParticipantRow,
  "waiting_event_at" | "joined_event_at" | "left_event_at" | "earlier_left_event_at"
>;

/**
 * Notes with which times events are written. A stay is from coming to leaving. Each time of it has one event, when it is
 * first known: a trigger writes it (triggers/events.sql). What is cleared, corrected, late or reported again has none.
 * Only a time after the leaving begins another stay: another wait, or joining once more. Joining after an end that was
 * only assumed is a correction.
 *
 * @param before the known participant; undefined for a new one
 */
export function withEventTimes<Next extends Pick<ParticipantRow, "waiting_since" | "joined_at" | "left_at">>(
  before: (EventTimes & Pick<ParticipantRow, "left_is_assumed">) | undefined,
  next: Next,
): Next & EventTimes {
  const known = before ?? NOBODY;
  const { waiting_since, joined_at, left_at } = next;
  const ended_at = known.left_event_at ?? known.earlier_left_event_at ?? Number.NEGATIVE_INFINITY;
  const begun = (time: number | null, known_at: number | null) =>
    time !== null && (known_at === null || time > ended_at) ? time : known_at;
  const waits = joined_at === null || isAfter(joined_at, waiting_since);
  const staysJoined = known.left_is_assumed && known.joined_event_at !== null;
  const waiting_event_at = waits ? begun(waiting_since, known.waiting_event_at) : known.waiting_event_at;
  const joined_event_at = staysJoined ? known.joined_event_at : begun(joined_at, known.joined_event_at);
  const since = Math.max(waiting_event_at ?? 0, joined_event_at ?? 0);
  const begun_event_times = { ...next, waiting_event_at, joined_event_at };
  if (known.left_event_at !== null && since <= known.left_event_at) {
    const left_event_at = left_at !== null && left_at >= since ? left_at : known.left_event_at;
    return { ...begun_event_times, left_event_at, earlier_left_event_at: known.earlier_left_event_at };
  }
  const left_event_at = left_at !== null && left_at > ended_at ? Math.max(left_at, since) : null;
  const earlier_left_event_at = known.left_event_at ?? known.earlier_left_event_at;
  return { ...begun_event_times, left_event_at, earlier_left_event_at };
}
