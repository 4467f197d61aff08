import { isLate, type ReportOrigin } from "../../rooms/report.ts";
import type { Participant, ParticipantRow, ReportOnCall } from "./participants.schemas.ts";

/** The times of a stay, as far as a report contains them. A stay is in a waiting room or on a call. */
export type Times = Pick<ReportOnCall, "waiting_since" | "joined_at" | "left_at">;
type TimesInRoom = Omit<Times, "joined_at"> & { room_id: number };
type TimesOnCall = Times & { call_started_at: number };

/** The stay that a report is about. `earlier_stay_until` is the end of the stay before it, as far as it is known. */
export type Meaning = { earlier_stay_until: number | null } & (
  | { kind: "first"; known?: undefined }
  | { kind: "erased" | "late" | "return" | "correction"; known: Participant }
);

/**
 * Finds the stay that a report is about. Reports repeat and overtake each other. The first kind that matches applies:
 *
 * - `first`: a new participant. An erased participant who was not on a call and begins another stay is a new participant too.
 * - `erased`: an erased participant. All other reports about them are late.
 * - `late`: a stay that ended before the known one began. If the participant has rejoined a call: the time before that.
 * - `return`: a stay after the known one, or rejoining a call. The report of leaving may still arrive, but a late report counts as
 *   a return only if the leaving is known.
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
  // If the participant is not known to have left, a late report repeats a time that has been corrected.
  const canReturn = !isLate(origin, found) || (found.left_at !== null && !found.left_is_assumed);
  const isNextStay = canReturn && found.call_id === null && isAfter(since, stay_until);
  if (found.erased_at !== null && isNextStay) return { kind: "first", earlier_stay_until: stay_until };

  const known = { known: found, earlier_stay_until: found.earlier_stay_until };
  if (found.erased_at !== null) return { kind: "erased", ...known };
  if (isInRoom ? isOfEarlierStay(found, said) : isOfBeforeRejoining(found, said))
    return { kind: "late", ...known };
  const isReturn = isInRoom ? isNextStay : canReturn && isAfter(said.joined_at, found.left_at);
  if (isReturn) return { kind: "return", known: found, earlier_stay_until: stay_until };
  return { kind: "correction", ...known };
}

function isOfEarlierStay(known: Participant, { room_id, waiting_since, left_at }: TimesInRoom): boolean {
  if (!isAfter(known.waiting_since, waiting_since)) return false;
  if (isAfter(known.waiting_since, left_at)) return true;
  const wasElsewhere = known.call_id === null && known.waiting_room_id !== room_id;
  const { earlier_stay_until } = known;
  // After rejoining a call, the wait belongs to the stay that has ended.
  const waitsSinceReturn = isAfter(known.waiting_since, earlier_stay_until);
  return wasElsewhere || (waitsSinceReturn && !isAfter(waiting_since, earlier_stay_until));
}

function isOfBeforeRejoining(known: Participant, { joined_at, left_at }: TimesOnCall): boolean {
  const { earlier_stay_until } = known;
  const since = joined_at ?? left_at;
  if (!isAfter(known.joined_at, earlier_stay_until)) return false;
  if (typeof since !== "number" || isAfter(since, earlier_stay_until)) return false;
  return typeof left_at !== "number" || isAfter(known.joined_at, left_at);
}

/** False if one of the times is unknown. */
export const isAfter = (time: number | null | undefined, other: number | null | undefined) =>
  typeof time === "number" && typeof other === "number" && time > other;

/**
 * A participant who is still there when a call ends leaves at that time; one who came later left at once. If the end is assumed, the
 * leaving is assumed too.
 */
export function leaveAtEnd<Known extends ParticipantRow>(
  participant: Known,
  ended_at: number,
  now: number,
  end_is_assumed: boolean,
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
