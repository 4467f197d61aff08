import type { NewRow } from "../../database/insert.ts";
import { withoutCase, withoutUndefined } from "../../http/wire.ts";
import type { Settings } from "../../settings.ts";
import { personalRoomStays, themeNotOffered, waitingRoomInUse } from "./waiting_rooms.refusals.ts";
import type { CreateRoom, UpdateRoom } from "./waiting_rooms.schemas.ts";
import type { waitingRooms } from "./waiting_rooms.table.ts";

export type WaitingRoomRow = typeof waitingRooms.$inferSelect;

type NewWaitingRoomRow = NewRow<typeof waitingRooms>;

/** It can be chosen even if the operator's list lacks it. */
const DEFAULT_THEME = "default";

/** Replaces a name of which nothing is left in ASCII. */
export const FALLBACK_SLUG_NAME = "room";

/**
 * @param known `slug_name` is the name in kebab case, from which the database generates the slug (see `freeSlug`), here and below
 * @throws ApiError 422 if the theme is not offered
 */
export function newWaitingRoom(
  known: { organization_id: number; slug_name: string; settings: Settings },
  input: CreateRoom,
  now: number,
): NewWaitingRoomRow {
  if (input.theme !== undefined) requireOffered(input.theme, known.settings);
  return {
    organization_id: known.organization_id,
    user_id: null,
    theme: DEFAULT_THEME,
    is_active: false,
    ...withoutUndefined(input),
    name_key: withoutCase(input.name),
    slug: known.slug_name,
    retired_at: null,
    created_at: now,
    updated_at: now,
  };
}

export interface RoomOwner {
  organization_id: number;
  /** Null for a member who is inserted in the same transaction: the database supplies the id. */
  id: number | null;
  display_name: string;
}

export const newPersonalRoom = (
  { organization_id, id, display_name }: RoomOwner,
  slug_name: string,
  now: number,
): NewWaitingRoomRow => ({
  organization_id,
  user_id: id,
  name: display_name,
  name_key: withoutCase(display_name),
  slug: slug_name,
  theme: DEFAULT_THEME,
  is_active: true,
  retired_at: null,
  created_at: now,
  updated_at: now,
});

/**
 * An unchanged name keeps its slug; a new name gets a new slug. A room can keep a theme that is no longer offered, so that a
 * client can send back the room that it read.
 *
 * @throws ApiError 422 if a new theme is not offered
 */
export function mergeWaitingRoom(
  { room, slug_name, settings }: { room: WaitingRoomRow; slug_name: string; settings: Settings },
  input: UpdateRoom,
  now: number,
): WaitingRoomRow {
  // The new time is always later than the last one, even within a millisecond, because each version needs its own ETag.
  const updated_at = Math.max(now, room.updated_at + 1);
  const next = { ...room, ...withoutUndefined(input), updated_at };
  if (next.theme !== room.theme) requireOffered(next.theme, settings);
  if (next.name === room.name) return next;
  return { ...next, name_key: withoutCase(next.name), slug: slug_name };
}

/** @throws ApiError 422 if the room is personal or in use */
export function retireRoom(room: WaitingRoomRow, isInUse: boolean, now: number): WaitingRoomRow {
  if (room.user_id !== null) throw personalRoomStays();
  if (isInUse) throw waitingRoomInUse();
  return { ...room, retired_at: now, updated_at: now };
}

function requireOffered(theme: string, { WAITING_ROOM_THEMES: themes }: Settings) {
  if (!themes) return;
  const offered = new Set([DEFAULT_THEME, ...themes]);
  if (!offered.has(theme)) throw themeNotOffered([...offered]);
}
