import { externalRoutes } from "../../http/external_api.ts";
import { idempotent } from "../../http/idempotency_key.ts";
import { jsonBody, params } from "../../http/validation.ts";
import {
  createWaitingRoomSubBody,
  toWaitingRoomSub,
  updateWaitingRoomSubBody,
  waitingRoomParams,
  waitingRoomSubParams,
} from "./waiting_room_subs.schemas.ts";
import {
  createWaitingRoomSub,
  deleteWaitingRoomSub,
  listWaitingRoomSubs,
  updateWaitingRoomSub,
} from "./waiting_room_subs.service.ts";

const ofRoom = params(waitingRoomParams);
const ofRoomById = params(waitingRoomSubParams);

export const waitingRoomSubsExternal = externalRoutes()
  .get("/waiting_rooms/:waiting_room_slug/waiting_room_subs", ofRoom, async (c) => {
    const subs = await listWaitingRoomSubs(c.var.context, c.req.valid("param").waiting_room_slug);
    return c.json({ waiting_room_subs: subs.map(toWaitingRoomSub) });
  })
  .post(
    "/waiting_rooms/:waiting_room_slug/waiting_room_subs",
    ofRoom,
    idempotent,
    jsonBody(createWaitingRoomSubBody),
    async (c) => {
      const { waiting_room_slug } = c.req.valid("param");
      const input = c.req.valid("json").waiting_room_sub;
      return c.json(
        toWaitingRoomSub(await createWaitingRoomSub(c.var.context, waiting_room_slug, input)),
        201,
      );
    },
  )
  .put(
    "/waiting_rooms/:waiting_room_slug/waiting_room_subs/:id",
    ofRoomById,
    jsonBody(updateWaitingRoomSubBody),
    async (c) => {
      const { waiting_room_slug, id } = c.req.valid("param");
      const input = c.req.valid("json").waiting_room_sub;
      return c.json(
        toWaitingRoomSub(await updateWaitingRoomSub(c.var.context, waiting_room_slug, id, input)),
      );
    },
  )
  .delete("/waiting_rooms/:waiting_room_slug/waiting_room_subs/:id", ofRoomById, async (c) => {
    const { waiting_room_slug, id } = c.req.valid("param");
    await deleteWaitingRoomSub(c.var.context, waiting_room_slug, id);
    return c.body(null, 204);
  });
