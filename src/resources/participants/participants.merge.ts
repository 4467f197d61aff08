import { reviseRow } from "../../database/merging.ts";
import { withEventTimes } from "./participants.event_times.ts";
import {
  leftTooEarly,
  participantIncomplete,
  participantLeftCall,
  participantNotMember,
  roomInactive,
  slugIsOld,
} from "./participants.refusals.ts";
import type { Participant, ParticipantReport, ParticipantRow } from "./participants.schemas.ts";
import { earlierVisitUntil, isAfter, isOfVisitBefore, leftAt, visitKnown } from "./participants.visits.ts";

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
  return next === before ? before : withEventTimes(before, next);
}
