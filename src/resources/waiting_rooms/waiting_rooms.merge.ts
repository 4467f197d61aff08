import type * as z from "zod";
import type { waitingRooms } from "../../database/schema.ts";
import { withoutUndefined } from "../../http/wire.ts";
import type { Settings } from "../../settings.ts";
import { personalRoomStays, themeNotOffered, waitingRoomInUse } from "./waiting_rooms.refusals.ts";
import type { createWaitingRoomBody, updateWaitingRoomBody } from "./waiting_rooms.schemas.ts";

export type WaitingRoomRow = typeof waitingRooms.$inferSelect;

type NewWaitingRoomRow = typeof waitingRooms.$inferInsert;

/** The theme of a room for which nobody chose one, even if it is not among the themes that can be chosen. */
const DEFAULT_THEME = "default";

/** Takes the place of a name of which nothing is left in ASCII. */
export const FALLBACK_SLUG_NAME = "room";

/*
 * A new slug is given as `slug_name`, the name in kebab case: the database makes the slug of it (see `freeSlug`).
 */

/** @throws ApiError 422 if the theme is not offered */
export function newWaitingRoom(
  {
    organization_id,
    slug_name,
    settings,
  }: { organization_id: number; slug_name: string; settings: Settings },
  input: z.output<ReturnType<typeof createWaitingRoomBody>>["waiting_room"],
  now: number,
): NewWaitingRoomRow {
  if (input.theme !== undefined) requireOffered(input.theme, settings);
  return {
    organization_id,
    theme: DEFAULT_THEME,
    is_active: false,
    ...withoutUndefined(input),
    slug: slug_name,
    created_at: now,
    updated_at: now,
  };
}

/** Whose personal room it is. */
export interface RoomOwner {
  organization_id: number;
  email: string;
  display_name: string;
}

/** Named after its owner, whose id the database finds by the email. */
export const newPersonalRoom = (
  { organization_id, email, display_name }: RoomOwner,
  slug_name: string,
  now: number,
): Omit<NewWaitingRoomRow, "user_id"> & { user_id: string } => ({
  organization_id,
  user_id: email,
  name: display_name,
  slug: slug_name,
  theme: DEFAULT_THEME,
  is_active: true,
  created_at: now,
  updated_at: now,
});

/**
 * A name that stays as it is keeps its slug. A new name gets a new slug. A room can keep a theme that is no longer
 * offered, so that a client can send back what it read.
 *
 * @throws ApiError 422 if a new theme is not offered
 */
export function mergeWaitingRoom(
  { room, slug_name, settings }: { room: WaitingRoomRow; slug_name: string; settings: Settings },
  input: z.output<ReturnType<typeof updateWaitingRoomBody>>["waiting_room"],
  now: number,
): WaitingRoomRow {
  const next = { ...room, ...withoutUndefined(input), updated_at: now };
  if (next.theme !== room.theme) requireOffered(next.theme, settings);
  return { ...next, slug: next.name === room.name ? room.slug : slug_name };
}

/**
 * Only an organization's room that nobody is in can be retired. The row stays, for auditing.
 *
 * @throws ApiError 422 if the room is personal or in use
 */
export function retireRoom(room: WaitingRoomRow, isInUse: boolean, now: number): WaitingRoomRow {
  if (room.user_id !== null) throw personalRoomStays();
  if (isInUse) throw waitingRoomInUse();
  return { ...room, retired_at: now, updated_at: now };
}

function requireOffered(theme: string, { WAITING_ROOM_THEMES: themes }: Settings) {
  if (themes && !themes.includes(theme)) throw themeNotOffered(themes);
}
