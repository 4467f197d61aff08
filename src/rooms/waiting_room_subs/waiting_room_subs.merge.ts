import type { NewRow } from "../../database/insert.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { DEFAULT_SUB_DURATION } from "../../lifetimes.ts";
import { MAX_SUBS_FOLLOWED } from "../../limits.ts";
import * as refusals from "./waiting_room_subs.refusals.ts";
import type { CreateSub, UpdateSub } from "./waiting_room_subs.schemas.ts";
import type { waitingRoomSubs } from "./waiting_room_subs.table.ts";

type SubRow = typeof waitingRoomSubs.$inferSelect;

interface KnownOfSub {
  room: { id: number; user_id: number | null };
  substituteRoom: { id: number } | undefined;
  /** The other sub that ends first after this one starts: the only one that it can overlap. */
  nextSub: { datetime_start: number } | undefined;
  isFull: boolean;
}

/**
 * Where to send participants: to the end of the way, so that nobody waits for a substitute who is away too. A circle has no end,
 * and a way that is too long counts as one: then they stay where they asked to go.
 *
 * @param way the slugs of the rooms through which active subs lead, beginning with the room that was asked for
 */
export function destinationOf(way: string[]): string {
  const isCircle = new Set(way).size < way.length || way.length > MAX_SUBS_FOLLOWED + 1;
  return way.at(isCircle ? 0 : -1) as string;
}

export function newSub(
  { organization_id, ...known }: KnownOfSub & { organization_id: number },
  { user_id, datetime_start, datetime_end }: CreateSub,
  now: number,
): NewRow<typeof waitingRoomSubs> {
  const sub = {
    organization_id,
    waiting_room_id: known.room.id,
    user_id,
    datetime_start,
    datetime_end: datetime_end ?? datetime_start + DEFAULT_SUB_DURATION,
    created_at: now,
    updated_at: now,
  };
  requirePossible(sub, known, now, { isOfDefaultLength: typeof datetime_end !== "number" });
  return sub;
}

/** A new start without an end moves both times. A null user_id empties the sub. */
export function mergeSub(
  { sub, ...known }: KnownOfSub & { sub: SubRow },
  input: UpdateSub,
  now: number,
): SubRow {
  const { datetime_start = sub.datetime_start } = input;
  const datetime_end = datetime_start + sub.datetime_end - sub.datetime_start;
  const next = { ...sub, datetime_end, ...withoutUndefined(input), updated_at: now };
  requirePossible(next, known, now, { before: sub });
  return next;
}

/** @throws ApiError 422 */
function requirePossible(
  sub: Pick<SubRow, "user_id" | "datetime_start" | "datetime_end">,
  { room, substituteRoom, nextSub, isFull }: KnownOfSub,
  now: number,
  { before, isOfDefaultLength }: { before?: SubRow; isOfDefaultLength?: boolean },
) {
  const isAhead = ({ datetime_end }: Pick<SubRow, "datetime_end">) => datetime_end > now;
  if (sub.datetime_end <= sub.datetime_start) throw refusals.subEndsTooEarly();
  if (sub.user_id !== null && sub.user_id !== before?.user_id) {
    if (sub.user_id === room.user_id) throw refusals.ownerSubstitutes();
    if (!substituteRoom) throw refusals.substituteHasNoRoom();
  }
  if (nextSub && sub.datetime_end > nextSub.datetime_start) throw refusals.subsOverlap(isOfDefaultLength);
  if (isFull && isAhead(sub) && !(before && isAhead(before))) throw refusals.tooManySubs();
}
