import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { CORRECTORS } from "../../organization/roles/roles.policy.ts";
import { slugParams } from "../../rooms/waiting_rooms/waiting_rooms.schemas.ts";
import { callParams } from "../calls/calls.schemas.ts";
import * as schemas from "./participants.schemas.ts";
import * as service from "./participants.service.ts";

export const participantsExternal = externalRoutes()
  .get(
    "/organization_users/:organization_user_id/calls/:call_id/participants",
    area("calls"),
    params(callParams),
    recordedRead,
    async (c) => {
      const participants = await service.listParticipants(c.var.context, c.req.valid("param"));
      return c.json({ participants: participants.map(schemas.toParticipantOnCall) });
    },
  )
  .put(
    "/organization_users/:organization_user_id/calls/:call_id/participants/:participant_id",
    area("calls", ...CORRECTORS),
    params(schemas.participantOfCallParams),
    recordedRead,
    jsonBody(schemas.updateParticipantBody),
    async (c) => {
      const { participant } = c.req.valid("json");
      return c.json(
        schemas.toParticipantOnCall(
          await service.updateParticipant(c.var.context, c.req.valid("param"), participant),
        ),
      );
    },
  )
  .get("/waiting_rooms/:slug/participants", area("rooms"), params(slugParams), recordedRead, async (c) => {
    const waiting = await service.listWaiting(c.var.context, c.req.valid("param").slug);
    return c.json({ participants: waiting.map(schemas.toWaitingParticipant) });
  });

export const participantsPlatform = platformRoutes().put(
  "/waiting_rooms/:slug/participants/:key",
  openTo("PLATFORM_REPORTS_TOKEN", "PLATFORM_WEB_APP_TOKEN"),
  params(schemas.participantParams),
  jsonBody(schemas.reportParticipantBody),
  async (c) => {
    const { slug, key } = c.req.valid("param");
    const { participant, reported_at } = c.req.valid("json");
    const report = { ...participant, reported_at };
    return c.json(schemas.toParticipant(await service.reportParticipant(c.var.context, slug, key, report)));
  },
);
