import type * as z from "zod";
import type { ParticipantRole } from "../../database/enums.ts";
import { reviseRow } from "../../database/merging.ts";
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
import type { Participant, participantOnCall, reportParticipantBody } from "./participants.schemas.ts";

/** What a report makes of a participant. A new one has no id yet. */
export type ParticipantRow = Omit<Participant, "id"> & { id?: number };

export type ParticipantReport = z.output<typeof reportParticipantBody>["participant"];

/** What a report says of somebody on a call. Only LiveKit's API notes what LiveKit said. */
export type ReportOnCall = z.output<typeof participantOnCall> & Partial<Pick<ParticipantRow, "livekit_said">>;

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
 * What a report makes of somebody in a waiting room. A field left out stays as reported before, and null clears it.
 *
 * A participant who has left stays gone when a late report says otherwise. Only a waiting_since after that is a new
 * visit. A report of a visit before the known one, which ended before that began, is late and changes nothing; other
 * reports of an earlier waiting_since correct the known visit. A participant on a call stays in its room.
 *
 * @returns the known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself, or somebody would enter an inactive room; 404 if somebody new
 *   would enter by an old slug
 */
export function mergeParticipant(
  known: KnownInRoom,
  key: string,
  report: ParticipantReport,
  now: number,
): ParticipantRow {
  const { room } = known;
  const { before, earlier_visit_until } = visitKnown(known.participant, report.waiting_since);
  if (before && before.erased_at !== null) {
    if (isAfter(report.waiting_since, before.left_at)) throw participantLeftCall();
    return before;
  }
  if (!before && !room.slug_is_current) throw slugIsOld();
  if (before && isOfVisitBefore(before, room.id, report)) return before;

  const {
    display_name,
    role,
    user_id = null,
    external_reference = null,
    waiting_since = null,
  } = { ...before, ...report };
  const { call_id = null, joined_at = null, recording_consent = null, livekit_said = null } = before ?? {};
  if (display_name === undefined || role === undefined || (!before && waiting_since === null))
    throw participantIncomplete();

  const comesBack = call_id === null && isAfter(report.waiting_since, before?.left_at);
  const left_at = leftAt(report, before, comesBack);
  if (call_id !== null && isAfter(waiting_since, left_at)) throw participantLeftCall();
  if (isAfter(waiting_since, left_at) || isAfter(joined_at, left_at)) throw leftTooEarly();
  if (report.user_id && !known.isMember) throw participantNotMember();

  const beginsAnew =
    call_id === null && isAfter(report.waiting_since, before?.left_at ?? before?.waiting_since);
  const wasHere = before?.waiting_room_id === room.id && before.left_at === null;
  const enters = left_at === null && call_id === null && !wasHere;
  if (enters && !room.slug_is_current) throw slugIsOld();
  if (enters && !room.is_active) throw roomInactive();
  const fields = {
    organization_id: room.organization_id,
    key,
    waiting_room_id: enters || beginsAnew ? room.id : (before?.waiting_room_id ?? room.id),
    call_id,
    user_id,
    display_name,
    role,
    external_reference,
    waiting_since,
    joined_at,
    left_at,
    left_is_assumed:
      left_at !== null && typeof report.left_at !== "number" && (before?.left_is_assumed ?? false),
    recording_consent,
    earlier_visit_until: before ? earlierVisitUntil(before, report) : earlier_visit_until,
    livekit_said,
    erased_at: null,
  };
  const next = reviseRow(before, fields, now);
  return next === before ? before : tell(before, next);
}

/**
 * What is known of the visit that a report is about. Who begins another one after having been erased, and was not on a call,
 * is somebody new, of whom only the end of the visit before is known. All else that is said of an erased participant is late.
 */
function visitKnown(found: Participant | undefined, since: number | null | undefined) {
  if (found && found.erased_at !== null && found.call_id === null && isAfter(since, found.left_at))
    return { before: undefined, earlier_visit_until: found.left_at };
  return { before: found, earlier_visit_until: found?.earlier_visit_until ?? null };
}

function isOfVisitBefore(
  before: Participant,
  room_id: number,
  { waiting_since, left_at }: ParticipantReport,
): boolean {
  if (!isAfter(before.waiting_since, waiting_since)) return false;
  if (isAfter(before.waiting_since, left_at)) return true;
  const wasElsewhere = before.call_id === null && before.waiting_room_id !== room_id;
  return wasElsewhere || !isAfter(waiting_since, before.earlier_visit_until ?? Number.NEGATIVE_INFINITY);
}

/** A later waiting_since of somebody who has not left is perhaps a new visit: the report of leaving may still come. */
function earlierVisitUntil(before: Participant, { waiting_since }: ParticipantReport): number | null {
  const { call_id, earlier_visit_until } = before;
  const until = before.left_at ?? before.waiting_since;
  return call_id === null && isAfter(waiting_since, until) ? until : earlier_visit_until;
}

/** Of which times of a participant events have told. */
type Told = Pick<ParticipantRow, "waiting_told" | "joined_told" | "left_told">;

const NOTHING_TOLD = { waiting_told: null, joined_told: null, left_told: null, left_is_assumed: false };

/**
 * Notes of which times events tell; triggers write them (triggers/events.sql). Each time of a visit is told once, when it is
 * first known: what is cleared, corrected, late or said again is not told again. Of who has left, only a later time begins
 * something that is told: another wait, or joining once more. Joining after an end that was only assumed is a correction.
 *
 * @param before the known participant; undefined for a new one
 */
export function tell<Next extends Pick<ParticipantRow, "waiting_since" | "joined_at" | "left_at">>(
  before: (Told & Pick<ParticipantRow, "left_is_assumed">) | undefined,
  next: Next,
): Next & Told {
  const told = before ?? NOTHING_TOLD;
  const { waiting_since, joined_at, left_at } = next;
  const begun = (time: number | null, known: number | null) =>
    time === null || (known !== null && told.left_told !== null && time <= told.left_told) ? known : time;
  const waits = joined_at === null || isAfter(joined_at, waiting_since);
  const staysJoined = told.left_is_assumed && told.joined_told !== null;
  const waiting_told = waits ? begun(waiting_since, told.waiting_told) : told.waiting_told;
  const joined_told = staysJoined ? told.joined_told : begun(joined_at, told.joined_told);
  const since = Math.max(waiting_told ?? 0, joined_told ?? 0);
  return { ...next, waiting_told, joined_told, left_told: leftTold(left_at, told.left_told, since) };
}

/** @param since the latest beginning that was told */
function leftTold(left_at: number | null, told: number | null, since: number): number | null {
  if (left_at === null) return told;
  if (told === null) return Math.max(left_at, since);
  // Somebody who is there again leaves again. Of who has left, this corrects the time, or is of a time before.
  if (since > told) return left_at > told ? Math.max(left_at, since) : told;
  return left_at >= since ? left_at : told;
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
 * ones. A participant who has left stays gone, except one who joined after that, and stays then. What it says of their
 * consent is in consents.merge.ts.
 *
 * @returns each known participant itself where nothing changes
 * @throws ApiError 422 if the report contradicts itself or what is known
 */
export function mergeParticipantsOnCall(
  known: KnownOnCall,
  reports: ReportOnCall[],
  now: number,
): ParticipantRow[] {
  const merged = reports.map((report) => {
    const since = report.waiting_since ?? report.joined_at ?? known.call.started_at;
    const { before, earlier_visit_until } = visitKnown(known.participants.get(report.key), since);
    if (before && before.erased_at !== null) return { before, next: before };
    const { joined_at: _, left_at: __, ...others } = report;
    const said: ReportOnCall = before && isOfStayBefore(before, report) ? others : report;
    const left_at = leftAt(said, before, isAfter(said.joined_at, before?.left_at));
    return { before, next: { ...before, ...said, left_at, earlier_visit_until, erased_at: null } };
  });

  if (merged.some(({ next }) => next.display_name === undefined || next.role === undefined))
    throw newParticipantIncomplete();
  if (reports.some(({ user_id }) => user_id && !known.members.has(user_id))) throw participantsNotMembers();
  if (merged.some(({ before }) => before?.call_id && before.call_id !== known.call.id))
    throw participantOnAnotherCall();
  if (
    merged.some(
      ({ next }) => isAfter(next.joined_at, next.left_at) || isAfter(next.waiting_since, next.left_at),
    )
  )
    throw participantsLeftTooEarly();

  return merged.map(({ before, next }) => {
    if (before && next === before) return before;
    const fields = {
      organization_id: known.call.organization_id,
      key: next.key,
      waiting_room_id: known.call.waiting_room_id,
      call_id: known.call.id,
      user_id: next.user_id ?? null,
      display_name: next.display_name as string,
      role: next.role as ParticipantRole,
      external_reference: next.external_reference ?? null,
      waiting_since: next.waiting_since ?? null,
      joined_at: next.joined_at ?? null,
      left_at: next.left_at,
      recording_consent: before?.recording_consent ?? null,
      left_is_assumed: false,
      earlier_visit_until: next.earlier_visit_until,
      livekit_said: next.livekit_said ?? null,
      erased_at: null,
      waiting_told: before?.waiting_told ?? null,
      joined_told: before?.joined_told ?? null,
      left_told: before?.left_told ?? null,
    };
    return reviseRow(before, fields, now);
  });
}

/** Of somebody who has left and joined once more, what is said of the time before that is late. */
function isOfStayBefore(
  { joined_told, left_told }: Participant,
  { joined_at, left_at }: ReportOnCall,
): boolean {
  const since = joined_at ?? left_at;
  const isBefore = typeof since === "number" && isAfter(joined_told, left_told) && !isAfter(since, left_told);
  return isBefore && (typeof left_at !== "number" || isAfter(joined_told, left_at));
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

/** Null does not bring back a participant who has left: reports can be late. */
function leftAt(
  report: { left_at?: number | null | undefined },
  before: Participant | undefined,
  comesBack: boolean,
): number | null {
  return report.left_at ?? (comesBack ? null : (before?.left_at ?? null));
}

/** False where one of the times is unknown. */
const isAfter = (time: number | null | undefined, other: number | null | undefined) =>
  typeof time === "number" && typeof other === "number" && time > other;
