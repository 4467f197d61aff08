import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { params } from "../../http/validation.ts";
import { slugParams, toResolvedWaitingRoom } from "./waiting_rooms.schemas.ts";
import { resolveWaitingRoom } from "./waiting_rooms.service.ts";

export const waitingRoomsPlatform = platformRoutes().get(
  "/waiting_rooms/:slug",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  params(slugParams),
  async (c) =>
    c.json(toResolvedWaitingRoom(await resolveWaitingRoom(c.var.context, c.req.valid("param").slug))),
);
