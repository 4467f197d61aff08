import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { jsonBody, params } from "../../http/validation.ts";
import { participantParams, reportParticipantBody, toParticipant } from "./participants.schemas.ts";
import { reportParticipant } from "./participants.service.ts";

export const participantsPlatform = platformRoutes().put(
  "/waiting_rooms/:slug/participants/:key",
  openTo("PLATFORM_REPORTS_TOKEN", "PLATFORM_WEB_APP_TOKEN"),
  params(participantParams),
  jsonBody(reportParticipantBody),
  async (c) => {
    const { slug, key } = c.req.valid("param");
    const { participant, reported_at } = c.req.valid("json");
    const report = { ...participant, reported_at };
    return c.json(toParticipant(await reportParticipant(c.var.context, slug, key, report)));
  },
);
