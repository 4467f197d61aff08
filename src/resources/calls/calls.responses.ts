import * as z from "zod";
import { id, key, timestamp } from "../../openapi/shapes.ts";

export const callSchema = z
  .object({
    id: id().describe("The id of the call. The paths of its results contain it."),
    organization_user_id: id().describe("The organization user who holds or held the call."),
    waiting_room_id: id().describe(
      "The waiting room that the participants came from. It may have been retired since.",
    ),
    is_ended: z.boolean().describe("Whether the call has ended. Only then can its results be read."),
    started_at: timestamp().describe("When the call started."),
    ended_at: timestamp().nullable().describe("When the call ended; null while it is going on."),
  })
  .meta({ id: "Call", description: "A video call." });

export const reportedCallSchema = callSchema
  .extend({
    key: key().describe("The reporter's own key for the call."),
    legal_hold: z
      .boolean()
      .describe(
        "Whether the recordings, the transcript and the SOAP note of the call cannot be deleted now.",
      ),
  })
  .meta({ id: "ReportedCall", description: "A video call, as its reporter sees it." });
