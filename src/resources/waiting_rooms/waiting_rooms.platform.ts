import { platformRoutes } from "../../http/platform_door.ts";
import { params } from "../../http/validation.ts";
import { toWaitingRoomSub } from "../waiting_room_subs/waiting_room_subs.schemas.ts";
import { openWaitingRoom } from "../waiting_room_subs/waiting_room_subs.service.ts";
import { slugParams, toWaitingRoom } from "./waiting_rooms.schemas.ts";

export const waitingRoomsPlatform = platformRoutes().get(
  "/waiting_rooms/:slug",
  params(slugParams),
  async (c) => {
    const { room, active_sub, destination_slug } = await openWaitingRoom(
      c.var.context,
      c.req.valid("param").slug,
    );
    return c.json({
      waiting_room: toWaitingRoom(room),
      active_sub: active_sub && toWaitingRoomSub(active_sub),
      destination_slug,
    });
  },
);
