import type { Context } from "../context.ts";
import { ApiError } from "../http/errors.ts";
import { log } from "../http/log.ts";
import { parseJson, textOf } from "../http/validation.ts";
import { reportEgressOfRoom } from "./egresses.ts";
import { type Translation, translate } from "./events.ts";
import { liveKitRoutes } from "./livekit_api.ts";
import { reportVisit } from "./visits.ts";

/**
 * LiveKit sends an event again after 5xx, and never after 4xx. So an event that cannot be used is accepted and logged:
 * it would never be of use. A fault of the service, and a record that is changed by too many at once, are 5xx.
 */
export const liveKitWebhook = liveKitRoutes().post("/webhook", async (c) => {
  const { context, requestId: request_id } = c.var;
  const { ids, ...event } = translate(parseJson(await textOf(c)), context.now);
  const reason = await reportEvent(context, event);
  if (reason) log("livekit_event_not_used", { request_id, ...ids, reason });
  return c.json({});
});

/** Reports an event, and returns why it could not be used. */
async function reportEvent(context: Context, event: Translation): Promise<string | undefined> {
  if ("unusable" in event) return event.unusable;
  try {
    await ("visit" in event ? reportVisit(context, event.visit) : reportEgressOfRoom(context, event.egress));
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return error.message;
    throw error;
  }
}
