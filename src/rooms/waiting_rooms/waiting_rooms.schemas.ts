import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { name, pathId, roomSlug, themeName, toTimestamp, trueOrFalse, withoutCase } from "../../http/wire.ts";
import { toWaitingRoomSub, type WaitingRoomSub } from "../waiting_room_subs/waiting_room_subs.schemas.ts";
import { ROOM_STAYS, SLUG_IS_GENERATED } from "./waiting_rooms.refusals.ts";
import type { resolvedWaitingRoomSchema, waitingRoomSchema } from "./waiting_rooms.responses.ts";
import type { waitingRoomColumns } from "./waiting_rooms.sql.ts";

const roomFields = () =>
  z.object({
    name: name(),
    theme: themeName(),
    is_active: z.boolean(),
    /** Refused with any value: a caller who sends a slug expects to set it. */
    slug: z.never(SLUG_IS_GENERATED),
  });

export const createWaitingRoomBody = () =>
  z.object({ waiting_room: roomFields().partial().required({ name: true }) });

export const updateWaitingRoomBody = () =>
  z.object({ waiting_room: roomFields().partial() }).register(unchangeable, ROOM_STAYS);

export type CreateRoom = z.output<ReturnType<typeof createWaitingRoomBody>>["waiting_room"];

export type UpdateRoom = z.output<ReturnType<typeof updateWaitingRoomBody>>["waiting_room"];

export const waitingRoomsQuery = () =>
  pageQuery().extend({
    id: pathId().optional(),
    user_id: pathId().optional(),
    name: name().transform(withoutCase).optional(),
    is_active: trueOrFalse().optional(),
  });

export type WaitingRoomsQuery = z.output<ReturnType<typeof waitingRoomsQuery>>;

export const slugParams = () => z.object({ slug: roomSlug() });

export type WaitingRoom = Row<typeof waitingRoomColumns>;

/** The response shows a personal room without the organization that it belongs to. */
export const toWaitingRoom = (row: WaitingRoom): z.input<typeof waitingRoomSchema> => ({
  id: row.id,
  organization_id: row.user_id === null ? row.organization_id : null,
  user_id: row.user_id,
  name: row.name,
  slug: row.slug,
  theme: row.theme,
  is_active: row.is_active,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
  waiting_count: row.waiting_count,
  user: { display_name: row.owner_display_name },
});

export interface ResolvedWaitingRoom {
  room: WaitingRoom;
  active_sub: WaitingRoomSub | null;
  destination_slug: string;
}

export function toResolvedWaitingRoom({
  room,
  active_sub,
  destination_slug,
}: ResolvedWaitingRoom): z.input<typeof resolvedWaitingRoomSchema> {
  return {
    organization_id: room.organization_id,
    waiting_room: toWaitingRoom(room),
    active_sub: active_sub && toWaitingRoomSub(active_sub),
    destination_slug,
  };
}
