import type { Participant, ParticipantReport } from "./participants.schemas.ts";

/* Reports repeat and overtake each other: which visit one of them is about, and until when that lasts. */

/**
 * What is known of the visit that a report is about. Who begins another one after having been erased, and was not on a call,
 * is somebody new, of whom only the end of the visit before is known. All else that is said of an erased participant is late.
 */
export function visitKnown(found: Participant | undefined, since: number | null | undefined) {
  if (found && found.erased_at !== null && found.call_id === null && isAfter(since, found.left_at))
    return { before: undefined, earlier_visit_until: found.left_at };
  return { before: found, earlier_visit_until: found?.earlier_visit_until ?? null };
}

/** True for a report of a visit before the known one, which is late and changes nothing. */
export function isOfVisitBefore(
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
export function earlierVisitUntil(before: Participant, { waiting_since }: ParticipantReport): number | null {
  const { call_id, earlier_visit_until } = before;
  const until = before.left_at ?? before.waiting_since;
  return call_id === null && isAfter(waiting_since, until) ? until : earlier_visit_until;
}

/** Null does not bring back a participant who has left: reports can be late. */
export function leftAt(
  report: { left_at?: number | null | undefined },
  before: Participant | undefined,
  comesBack: boolean,
): number | null {
  return report.left_at ?? (comesBack ? null : (before?.left_at ?? null));
}

/** False where one of the times is unknown. */
export const isAfter = (time: number | null | undefined, other: number | null | undefined) =>
  typeof time === "number" && typeof other === "number" && time > other;
