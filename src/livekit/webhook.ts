import type { Context } from "../context.ts";
import { ApiError } from "../http/errors.ts";
import { log } from "../http/log.ts";
import { enterOrganization, forgetIfMoved } from "../http/organization.ts";
import { parseJson, utf8Of } from "../http/validation.ts";
import { reportEgressOfRoom } from "./egresses.ts";
import { type Translation, translate } from "./events.ts";
import { liveKitRoutes } from "./livekit_api.ts";
import { reportRoomEvent } from "./room_events.ts";
import { stopAfterReport } from "./stops.ts";

/**
 * LiveKit retries an event after 5xx, but not after 4xx. An event that cannot be used is accepted and logged, because a
 * retry would not make it usable. Faults of the service, and too many concurrent changes of a record, are 5xx.
 */
export const liveKitWebhook = liveKitRoutes().post("/webhook", async (c) => {
  const { context, requestId: request_id } = c.var;
  const { ids, faults, ...event } = translate(parseJson(utf8Of(c.var.body)), context.now);
  const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
  const { event_fault, file_fault, fields = [] } = await reportEvent(context, event, waitUntil);
  const unused = [...faults.fields, ...fields].join(" ");
  if (unused) log("livekit_fields_not_used", { request_id, ...ids, fields: unused });
  if (faults.is_consent_unclear) log("livekit_consent_unclear", { request_id, ...ids });
  if (event_fault) log("livekit_event_not_used", { request_id, ...ids, reason: event_fault });
  if (file_fault) log("livekit_file_not_used", { request_id, ...ids, reason: file_fault });
  return c.json({});
});

async function reportEvent(
  context: Context,
  event: Translation,
  inBackground: (work: Promise<unknown>) => void,
): Promise<{ event_fault?: string; file_fault?: string | undefined; fields?: string[] }> {
  if ("none" in event) return {};
  if ("unusable" in event) return { event_fault: event.unusable };
  const { organization_slug: slug } = "egress" in event ? event.egress : event.room;
  try {
    const there = await enterOrganization(context, { slug });
    const outcome = await ("egress" in event
      ? reportEgressOfRoom(there, event.egress)
      : reportRoomEvent(there, event.room));
    inBackground(stopAfterReport(there));
    return outcome;
  } catch (error) {
    forgetIfMoved(context, { slug }, error as Error);
    if (error instanceof ApiError && error.status < 500) return { event_fault: error.message };
    throw error;
  }
}
