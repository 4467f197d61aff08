import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { conditional, etagOf } from "../../http/preconditions.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import * as schemas from "./waiting_rooms.schemas.ts";
import * as service from "./waiting_rooms.service.ts";

const bySlug = params(schemas.slugParams);

export const waitingRoomsExternal = externalRoutes()
  .get("/waiting_rooms", area("rooms"), query(schemas.waitingRoomsQuery), async (c) => {
    const { items, pagination } = await service.listWaitingRooms(c.var.context, c.req.valid("query"));
    return c.json({ waiting_rooms: items.map(schemas.toWaitingRoom), pagination });
  })
  .post("/waiting_rooms", area("rooms"), idempotent, jsonBody(schemas.createWaitingRoomBody), async (c) => {
    const room = await service.createWaitingRoom(c.var.context, c.req.valid("json").waiting_room);
    return c.json(schemas.toWaitingRoom(room), 201);
  })
  .get("/waiting_rooms/:slug", area("rooms"), bySlug, async (c) => {
    const room = await service.requireWaitingRoom(c.var.context, c.req.valid("param").slug);
    return c.json(schemas.toWaitingRoom(room), 200, etagOf(room));
  })
  .put(
    "/waiting_rooms/:slug",
    area("rooms"),
    bySlug,
    conditional,
    jsonBody(schemas.updateWaitingRoomBody),
    async (c) => {
      const { slug } = c.req.valid("param");
      const room = await service.updateWaitingRoom(c.var.context, slug, c.req.valid("json").waiting_room);
      return c.json(schemas.toWaitingRoom(room), 200, etagOf(room));
    },
  )
  .delete("/waiting_rooms/:slug", area("rooms"), bySlug, conditional, (c) =>
    noContent(c, service.retireWaitingRoom(c.var.context, c.req.valid("param").slug)),
  );

export const waitingRoomsPlatform = platformRoutes().get(
  "/waiting_rooms/:slug",
  openTo("PLATFORM_WEB_APP_TOKEN"),
  params(schemas.slugParams),
  async (c) =>
    c.json(
      schemas.toResolvedWaitingRoom(
        await service.resolveWaitingRoom(c.var.context, c.req.valid("param").slug),
      ),
    ),
);
