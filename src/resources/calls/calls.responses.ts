import * as z from "zod";
import { ENDED_BY } from "../../database/enums.ts";
import { HOUR, SILENCE_UNTIL_END } from "../../limits.ts";
import { id, key, timestamp } from "../../openapi/shapes.ts";
import { CALL, CARDIOLOGY, ENDED_AT, PAULA, STARTED_AT } from "../../openapi/story.ts";

export const callSchema = z
  .object({
    id: id().meta({
      description: "The id of the call. The paths of its results contain it.",
      example: CALL.id,
    }),
    organization_user_id: id().meta({
      description: "The organization user who holds or held the call.",
      example: PAULA.id,
    }),
    waiting_room_id: id().meta({
      description: "The waiting room that the participants came from. It may have been retired since.",
      example: CARDIOLOGY.id,
    }),
    is_ended: z.boolean().meta({
      description: "Whether the call has ended. Only then can its results be read.",
      example: true,
    }),
    started_at: timestamp().meta({ description: "When the call started.", example: STARTED_AT }),
    ended_at: timestamp()
      .nullable()
      .meta({
        description: `When the call ended; null while it is going on. A call of which no report changed anything for ${SILENCE_UNTIL_END / HOUR} hours has ended at the latest time known of it; that time is replaced if the end is reported later.`,
        example: ENDED_AT,
      }),
  })
  .meta({ id: "Call", description: "A video call." });

export const reportedCallSchema = callSchema
  .extend({
    key: key().meta({ description: "The reporter's own key for the call.", example: CALL.key }),
    ended_by: z
      .enum(ENDED_BY)
      .nullable()
      .meta({
        description: `What says when the call ended: \`reported\` by a report; \`assumed\` if ${SILENCE_UNTIL_END / HOUR} hours long no report changed anything of the call, so that the service put the end at the latest time that it knew of. Null while the call is going on.`,
        example: "reported",
      }),
    legal_hold: z.boolean().meta({
      description:
        "Whether the recordings, the transcript and the SOAP note of the call cannot be deleted now.",
      example: false,
    }),
  })
  .meta({ id: "ReportedCall", description: "A video call, as its reporter sees it." });
