import { externalRoutes, noContent } from "../../http/hono.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { itemsOfPage, onePageQuery } from "../../http/pagination.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import * as schemas from "./waiting_room_subs.schemas.ts";
import * as service from "./waiting_room_subs.service.ts";

const SUBS = "/waiting_rooms/:waiting_room_slug/waiting_room_subs";
const ONE_SUB = "/waiting_rooms/:waiting_room_slug/waiting_room_subs/:id";

const ofRoom = params(schemas.waitingRoomParams);
const ofRoomById = params(schemas.waitingRoomSubParams);

export const waitingRoomSubsExternal = externalRoutes()
  .get(SUBS, area("rooms"), ofRoom, query(onePageQuery), async (c) => {
    const subs = await service.listWaitingRoomSubs(c.var.context, c.req.valid("param").waiting_room_slug);
    return c.json({
      waiting_room_subs: itemsOfPage(subs, c.req.valid("query")).map(schemas.toWaitingRoomSub),
    });
  })
  .post(SUBS, area("rooms"), ofRoom, idempotent, jsonBody(schemas.createWaitingRoomSubBody), async (c) => {
    const { waiting_room_slug } = c.req.valid("param");
    const input = c.req.valid("json").waiting_room_sub;
    const sub = await service.createWaitingRoomSub(c.var.context, waiting_room_slug, input);
    return c.json(schemas.toWaitingRoomSub(sub), 201);
  })
  .put(ONE_SUB, area("rooms"), ofRoomById, jsonBody(schemas.updateWaitingRoomSubBody), async (c) => {
    const { waiting_room_slug, id } = c.req.valid("param");
    const input = c.req.valid("json").waiting_room_sub;
    const sub = await service.updateWaitingRoomSub(c.var.context, waiting_room_slug, id, input);
    return c.json(schemas.toWaitingRoomSub(sub));
  })
  .delete(ONE_SUB, area("rooms"), ofRoomById, (c) => {
    const { waiting_room_slug, id } = c.req.valid("param");
    return noContent(c, service.deleteWaitingRoomSub(c.var.context, waiting_room_slug, id));
  });
