import type { ParticipantRow } from "./participants.schemas.ts";
import { isAfter } from "./participants.visits.ts";

/** The times with which a participant's events were written. */
type EventTimes = Pick<ParticipantRow, "waiting_event_at" | "joined_event_at" | "left_event_at">;

const NO_EVENTS = {
  waiting_event_at: null,
  joined_event_at: null,
  left_event_at: null,
  left_is_assumed: false,
};

/**
 * Notes with which times events are written; triggers write them (triggers/events.sql). Each time of a visit has one event,
 * when it is first known: what is cleared, corrected, late or reported again has none. Of somebody who has left, only a later
 * time begins something that has events again: another wait, or joining once more. Joining after an end that was only
 * assumed is a correction.
 *
 * @param before the known participant; undefined for a new one
 */
export function withEventTimes<Next extends Pick<ParticipantRow, "waiting_since" | "joined_at" | "left_at">>(
  before: (EventTimes & Pick<ParticipantRow, "left_is_assumed">) | undefined,
  next: Next,
): Next & EventTimes {
  const known = before ?? NO_EVENTS;
  const { waiting_since, joined_at, left_at } = next;
  const begun = (time: number | null, known_at: number | null) =>
    time === null || (known_at !== null && known.left_event_at !== null && time <= known.left_event_at)
      ? known_at
      : time;
  const waits = joined_at === null || isAfter(joined_at, waiting_since);
  const staysJoined = known.left_is_assumed && known.joined_event_at !== null;
  const waiting_event_at = waits ? begun(waiting_since, known.waiting_event_at) : known.waiting_event_at;
  const joined_event_at = staysJoined ? known.joined_event_at : begun(joined_at, known.joined_event_at);
  const since = Math.max(waiting_event_at ?? 0, joined_event_at ?? 0);
  const left_event_at = leftEventAt(left_at, known.left_event_at, since);
  return { ...next, waiting_event_at, joined_event_at, left_event_at };
}

/** @param since the time of the latest beginning that has an event */
function leftEventAt(left_at: number | null, known_at: number | null, since: number): number | null {
  if (left_at === null) return known_at;
  if (known_at === null) return Math.max(left_at, since);
  // Somebody who is there again leaves again. Of who has left, this corrects the time, or is of a time before.
  if (since > known_at) return left_at > known_at ? Math.max(left_at, since) : known_at;
  return left_at >= since ? left_at : known_at;
}
