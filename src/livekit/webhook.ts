import type { Context } from "../context.ts";
import { ApiError } from "../http/errors.ts";
import { log } from "../http/log.ts";
import { enterOrganization } from "../http/organization.ts";
import { parseJson, utf8Of } from "../http/validation.ts";
import { reportEgressOfRoom } from "./egresses.ts";
import { type Translation, translate } from "./events.ts";
import { liveKitRoutes } from "./livekit_api.ts";
import { reportRoomEvent } from "./room_events.ts";

/**
 * LiveKit sends an event again after 5xx, and never after 4xx. So an event that cannot be used is accepted and logged:
 * it would never be of use. A fault of the service, and a record that is changed by too many at once, are 5xx.
 */
export const liveKitWebhook = liveKitRoutes().post("/webhook", async (c) => {
  const { context, requestId: request_id } = c.var;
  const { ids, ...event } = translate(parseJson(utf8Of(c.var.body)), context.now);
  const { event_fault, file_fault } = await reportEvent(context, event);
  if (event_fault) log("livekit_event_not_used", { request_id, ...ids, reason: event_fault });
  if (file_fault) log("livekit_file_not_used", { request_id, ...ids, reason: file_fault });
  return c.json({});
});

/** Reports an event, and returns why it could not be used, or the file that it names. */
async function reportEvent(
  context: Context,
  event: Translation,
): Promise<{ event_fault?: string; file_fault?: string | undefined }> {
  if ("unusable" in event) return { event_fault: event.unusable };
  try {
    const { organization_slug: slug } = "egress" in event ? event.egress : event.room;
    const there = await enterOrganization(context, { slug });
    if ("egress" in event) return { file_fault: (await reportEgressOfRoom(there, event.egress)).file_fault };
    await reportRoomEvent(there, event.room);
    return {};
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return { event_fault: error.message };
    throw error;
  }
}
