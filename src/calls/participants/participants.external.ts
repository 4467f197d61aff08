import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/external_api.ts";
import { area } from "../../http/scopes.ts";
import { params } from "../../http/validation.ts";
import { slugParams } from "../../rooms/waiting_rooms/waiting_rooms.schemas.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toParticipantOnCall, toWaitingParticipant } from "./participants.schemas.ts";
import { listParticipants, listWaiting } from "./participants.service.ts";

export const participantsExternal = externalRoutes()
  .get(
    "/organization_users/:organization_user_id/calls/:call_id/participants",
    area("calls"),
    params(callParams),
    recordedRead,
    async (c) => {
      const participants = await listParticipants(c.var.context, c.req.valid("param"));
      return c.json({ participants: participants.map(toParticipantOnCall) });
    },
  )
  .get("/waiting_rooms/:slug/participants", area("rooms"), params(slugParams), recordedRead, async (c) => {
    const waiting = await listWaiting(c.var.context, c.req.valid("param").slug);
    return c.json({ participants: waiting.map(toWaitingParticipant) });
  });
