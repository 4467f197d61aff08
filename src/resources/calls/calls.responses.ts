import * as z from "zod";
import { ENDED_BY, HOLD_BEGINNERS, RESULT_STATES } from "../../database/enums.ts";
import { count, externalReference, id, key, timestamp, visitId } from "../../http/wire.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { holdReason } from "../legal_holds/legal_holds.fields.ts";

export const callSchema = z
  .object({
    id: id().meta({
      description: "The id of the call. The paths of its results contain it.",
      example: story.CALL.id,
    }),
    organization_user_id: id().meta({
      description: "The organization user who holds or held the call.",
      example: story.PAULA.id,
    }),
    waiting_room_id: id().meta({
      description: "The waiting room that the participants came from. It may have been retired since.",
      example: story.CARDIOLOGY.id,
    }),
    visit_id: visitId().meta({ example: story.VISIT.id }),
    is_ended: z.boolean().meta({
      description: "Whether the call has ended. Only then can its results be read.",
      example: true,
    }),
    started_at: timestamp().meta({ description: "When the call started.", example: story.STARTED_AT }),
    ended_at: timestamp()
      .nullable()
      .meta({
        description: `When the call ended; null while it is going on. A call of which no report changed anything for ${SILENCE_UNTIL_END / HOUR} hours has ended at the latest time known of it; that time is replaced if the end is reported later.`,
        example: story.ENDED_AT,
      }),
  })
  .meta({ id: "Call", description: "A video call." });

/** What a list of calls leaves out. */
const details = {
  external_reference: externalReference().nullable().meta({
    description:
      "The text by which another system knows the visit, such as its number in the organization's own records; null if there is none. Several calls can have the same. It is erased with the names of the call's participants, and cannot be set again after that.",
    example: story.VISIT_REFERENCE,
  }),
  ended_by: z
    .enum(ENDED_BY)
    .nullable()
    .meta({
      description: `What says when the call ended: \`reported\` by a report; \`assumed\` if no report changed anything of the call for ${SILENCE_UNTIL_END / HOUR} hours, so that the service put the end at the latest time that it knew of. Null while the call is going on.`,
      example: "reported",
    }),
  failed: z.boolean().meta({
    description: "Whether the call failed: see `call_fail_rate` of the call metrics.",
    example: false,
  }),
  legal_hold: z
    .object({
      reason: holdReason().meta({
        description: "Why, as it was reported; null if no reason was.",
        example: story.HOLD.reason,
      }),
      began_at: timestamp().meta({
        description: "When the hold began. It stays when the reason changes.",
        example: story.HOLD.began_at,
      }),
      begun_by: z.enum(HOLD_BEGINNERS).meta({
        description:
          "Who began it: the `organization` itself, or the `platform`, which alone can change and end what it began. A hold that the platform wants too becomes the platform's.",
        example: story.HOLD.begun_by,
      }),
    })
    .nullable()
    .meta({
      description:
        "The legal hold: as long as there is one, neither retention nor a request deletes the recordings, the transcript or the SOAP note of the call. null if there is none, and for clients that do not act as an organization_admin.",
      example: null,
    }),
};

const resultStateSchema = (text: string) =>
  z.enum(RESULT_STATES).meta({
    description: `How far the ${text} is: \`none\` if there is none, or it was deleted; \`pending\` if there is one, but the call is going on or it is not final; \`ready\` if it is final and the call has ended.`,
    example: "ready",
  });

export const callWithResultsSchema = callSchema
  .extend({
    ...details,
    results: z
      .object({
        transcript: resultStateSchema("transcript"),
        soap_note: resultStateSchema("SOAP note"),
        egresses: count().meta({
          description:
            "The number of recordings that their list shows: 0 while the call is going on, and as long as a participant has not consented.",
          example: 1,
        }),
      })
      .describe("What there is to read of the call."),
  })
  .meta({ id: "CallWithResults", description: "A video call, and what of its results is ready." });

export const reportedCallSchema = callSchema
  .extend({
    key: key().meta({ description: "The reporter's own key for the call.", example: story.CALL.key }),
    ...details,
  })
  .meta({ id: "ReportedCall", description: "A video call, as its reporter sees it." });
