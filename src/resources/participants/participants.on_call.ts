import type * as z from "zod";
import type { ParticipantRole } from "../../database/enums.ts";
import { reviseRow } from "../../database/merging.ts";
import {
  newParticipantIncomplete,
  participantOnAnotherCall,
  participantsLeftTooEarly,
  participantsNotMembers,
} from "./participants.refusals.ts";
import type { Participant, ParticipantRow, participantOnCall } from "./participants.schemas.ts";
import { isAfter, leftAt, visitKnown } from "./participants.visits.ts";

/** What a report says of somebody on a call. Only LiveKit's API notes what LiveKit said. */
export type ReportOnCall = z.output<ReturnType<typeof participantOnCall>> &
  Partial<Pick<ParticipantRow, "livekit_said">>;

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
      waiting_event_at: before?.waiting_event_at ?? null,
      joined_event_at: before?.joined_event_at ?? null,
      left_event_at: before?.left_event_at ?? null,
    };
    return reviseRow(before, fields, now);
  });
}

/** Of somebody who has left and joined once more, what is said of the time before that is late. */
function isOfStayBefore(
  { joined_event_at, left_event_at }: Participant,
  { joined_at, left_at }: ReportOnCall,
): boolean {
  const since = joined_at ?? left_at;
  const isBefore =
    typeof since === "number" && isAfter(joined_event_at, left_event_at) && !isAfter(since, left_event_at);
  return isBefore && (typeof left_at !== "number" || isAfter(joined_event_at, left_at));
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
