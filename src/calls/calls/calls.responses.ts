import * as z from "zod";
import { ENDED_BY, HOLD_BEGINNERS, RESULT_STATES } from "../../database/enums.ts";
import { count, externalReference, id, key, timestamp, visitId } from "../../http/wire.ts";
import { SILENCE_UNTIL_END } from "../../lifetimes.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { holdReason } from "../legal_holds/legal_holds.schemas.ts";

const fields = z.object({
  id: field(id(), "The id of the call. The paths of its results contain it.", story.CALL.id),
  organization_user_id: field(id(), "The organization user who holds or held the call.", story.PAULA.id),
  waiting_room_id: id().meta({
    description: "The waiting room that the participants came from. It may have been retired since.",
    example: story.CARDIOLOGY.id,
  }),
  visit_id: visitId().meta({ example: story.HELD_VISIT.id }),
  is_ended: field(z.boolean(), "Whether the call has ended. Only then can its results be read.", true),
  started_at: timestamp().meta({ description: "When the call started.", example: story.STARTED_AT }),
  ended_at: timestamp()
    .nullable()
    .meta({
      description: `When the call ended; null while it is going on. If no report changes anything for ${SILENCE_UNTIL_END / HOUR} hours, the service ends the call at the latest time that it knows of. A later report of the end replaces that time.`,
      example: story.ENDED_AT,
    }),
});

const details = {
  external_reference: externalReference().nullable().meta({
    description:
      "Your own id for the visit, such as its number in your records, or null. Several calls can have the same reference. It is erased with the names of the call's participants, and cannot be set again after that.",
    example: story.HELD_VISIT_REFERENCE,
  }),
  ended_by: z
    .enum(ENDED_BY)
    .nullable()
    .meta({
      description: `The source of \`ended_at\`: \`reported\` if a report stated the end; \`assumed\` if no report changed anything for ${SILENCE_UNTIL_END / HOUR} hours, so that the service ended the call at the latest time that it knew of. Null while the call is going on.`,
      example: "reported",
    }),
  failed: field(z.boolean(), "Whether the call failed: see `call_fail_rate` of the call metrics.", false),
  legal_hold: z
    .object({
      reason: field(holdReason(), "The reason for the hold; null if none was given.", story.HOLD.reason),
      began_at: timestamp().meta({
        description: "When the hold began. A new reason does not change it.",
        example: story.HOLD.began_at,
      }),
      begun_by: z.enum(HOLD_BEGINNERS).meta({
        description:
          "Whether the `organization` or the `platform` began the hold. Only the platform can change and end its own holds. If the platform also requests a hold that the organization began, the hold becomes the platform's.",
        example: story.HOLD.begun_by,
      }),
    })
    .nullable()
    .meta({
      description:
        "The legal hold. While there is one, neither retention nor a request deletes the recordings, the transcript or the SOAP note of the call. null if there is none, and for clients that do not act as an organization_admin.",
      example: null,
    }),
};

const resultStateSchema = (text: string) =>
  z.enum(RESULT_STATES).meta({
    description: `The state of the ${text}: \`none\` if there is no ${text}, or it was deleted; \`pending\` if it is not final, or the call is going on; \`ready\` if it is final and the call has ended.`,
    example: "ready",
  });

export const callSchema = named("Call", "A video call, with the state of its results.", {
  ...fields.shape,
  results: z
    .object({
      transcript: resultStateSchema("transcript"),
      soap_note: resultStateSchema("SOAP note"),
      egresses: count().meta({
        description:
          "The number of recordings in the call's list: 0 while the call is going on, and as long as a participant has not consented.",
        example: 1,
      }),
    })
    .describe("The state of the call's results."),
});

export const callDetailsSchema = callSchema
  .extend(details)
  .meta({ id: "CallDetails", description: "A video call with all its details." });

export const reportedCallSchema = named("ReportedCall", "A video call, as its reporter sees it.", {
  ...fields.shape,
  key: key().meta({ description: "The reporter's own key for the call.", example: story.CALL.key }),
  ...details,
});
