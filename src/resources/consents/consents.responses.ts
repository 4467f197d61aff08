import * as z from "zod";
import { CONSENT_DECISIONS } from "../../database/enums.ts";
import { id, timestamp } from "../../http/wire.ts";
import * as story from "../../openapi/story.ts";
import { consentMethod } from "./consents.fields.ts";

export const consentSchema = z
  .object({
    id: id().meta({ description: "The id of the decision.", example: 71 }),
    participant_id: id().meta({
      description: "The participant who decided.",
      example: story.RITAS_PARTICIPANT.id,
    }),
    decision: z.enum([...CONSENT_DECISIONS, "withdrawn"]).meta({
      description: "`granted`, or `refused`; a refusal by somebody who had consented before is `withdrawn`.",
      example: "granted",
    }),
    decided_at: timestamp().meta({
      description:
        "When the participant decided. If nobody reported that: for a consent when the participant joined the call, but never after a refusal that was known; for a refusal when it was reported.",
      example: story.STARTED_AT,
    }),
    method: consentMethod().nullable().meta({
      description:
        "How the participant said so, for example `verbal` or `form`; null if nobody reported that.",
      example: "verbal",
    }),
    reported_at: timestamp().meta({
      description: "When the decision was reported.",
      example: story.STARTED_AT,
    }),
  })
  .meta({ id: "Consent", description: "What a participant decided on being recorded." });
