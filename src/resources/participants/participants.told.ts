import type { ParticipantRow } from "./participants.schemas.ts";
import { isAfter } from "./participants.visits.ts";

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
