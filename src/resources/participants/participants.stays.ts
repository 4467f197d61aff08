import { isLate, type ReportOrigin } from "../../http/reports.ts";
import type { Participant, ParticipantRow, ReportOnCall } from "./participants.schemas.ts";

/** When somebody came and left, as far as a report says, and where: in a waiting room or on a call. */
export type Times = Pick<ReportOnCall, "waiting_since" | "joined_at" | "left_at">;
type TimesInRoom = Omit<Times, "joined_at"> & { room_id: number };
type TimesOnCall = Times & { call_started_at: number };

/** What a report is about. `earlier_stay_until` is the end of the stay before, as far as it is known. */
export type Meaning = { earlier_stay_until: number | null } & (
  | { kind: "first"; known?: undefined }
  | { kind: "erased" | "late" | "return" | "correction"; known: Participant }
);

/**
 * What a report is about. Reports repeat and overtake each other. The first of these that fits:
 *
 * - `first`: somebody new. So is who begins another stay after having been erased, and was not on a call.
 * - `erased`: somebody erased. Whatever else is said of them is late.
 * - `late`: a stay before the known one, which ended before that began; of somebody who has left a call and joined it once
 *   more, what was before that.
 * - `return`: a stay after the known one, or joining a call once more. The report of leaving may still come; a late report is
 *   a return only if it is known.
 * - `correction`: the known stay.
 */
export function meaningOf(
  found: Participant | undefined,
  said: TimesInRoom | TimesOnCall,
  origin: ReportOrigin,
): Meaning {
  if (!found) return { kind: "first", earlier_stay_until: null };
  const isInRoom = "room_id" in said;
  const since = said.waiting_since ?? (isInRoom ? null : (said.joined_at ?? said.call_started_at));
  const stay_until = found.left_at ?? found.waiting_since;
  // A late report of somebody who is not known to have left repeats a time that was corrected since.
  const canReturn = !isLate(origin, found) || (found.left_at !== null && !found.left_is_assumed);
  const isNextStay = canReturn && found.call_id === null && isAfter(since, stay_until);
  if (found.erased_at !== null && isNextStay) return { kind: "first", earlier_stay_until: stay_until };

  const known = { known: found, earlier_stay_until: found.earlier_stay_until };
  if (found.erased_at !== null) return { kind: "erased", ...known };
  if (isInRoom ? isOfEarlierStay(found, said) : isOfBeforeRejoining(found, said))
    return { kind: "late", ...known };
  if (isInRoom && isNextStay) return { kind: "return", known: found, earlier_stay_until: stay_until };
  if (!isInRoom && canReturn && isAfter(said.joined_at, found.left_at)) return { kind: "return", ...known };
  return { kind: "correction", ...known };
}

function isOfEarlierStay(known: Participant, { room_id, waiting_since, left_at }: TimesInRoom): boolean {
  if (!isAfter(known.waiting_since, waiting_since)) return false;
  if (isAfter(known.waiting_since, left_at)) return true;
  const wasElsewhere = known.call_id === null && known.waiting_room_id !== room_id;
  return wasElsewhere || !isAfter(waiting_since, known.earlier_stay_until ?? Number.NEGATIVE_INFINITY);
}

function isOfBeforeRejoining(known: Participant, { joined_at, left_at }: TimesOnCall): boolean {
  const { joined_event_at, left_event_at, earlier_left_event_at } = known;
  const hasRejoined = left_event_at === null && isAfter(joined_event_at, earlier_left_event_at);
  const since = joined_at ?? left_at;
  if (!hasRejoined || typeof since !== "number" || isAfter(since, earlier_left_event_at)) return false;
  return typeof left_at !== "number" || isAfter(joined_event_at, left_at);
}

/** False where one of the times is unknown. */
export const isAfter = (time: number | null | undefined, other: number | null | undefined) =>
  typeof time === "number" && typeof other === "number" && time > other;

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

/** Somebody of whom no event was written. */
export const NO_EVENTS = {
  waiting_event_at: null,
  joined_event_at: null,
  left_event_at: null,
  earlier_left_event_at: null,
  left_is_assumed: false,
};

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
  const known = before ?? NO_EVENTS;
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
