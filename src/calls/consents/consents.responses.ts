import * as z from "zod";
import { CONSENT_DECISIONS } from "../../database/enums.ts";
import { id, timestamp } from "../../http/wire.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { consentMethod } from "./consents.schemas.ts";

export const consentSchema = named("Consent", "A participant's decision on being recorded.", {
  id: id().meta({ description: "The id of the decision.", example: 71 }),
  participant_id: field(id(), "The participant who decided.", story.RITAS_PARTICIPANT.id),
  decision: z.enum([...CONSENT_DECISIONS, "withdrawn"]).meta({
    description:
      "`granted` or `refused`; `withdrawn` for a refusal by a participant who had consented before.",
    example: "granted",
  }),
  decided_at: timestamp().meta({
    description:
      "When the participant decided. If no report stated it: for a consent, when the participant joined the call, but never after a known refusal; for a refusal, when it was reported.",
    example: story.STARTED_AT,
  }),
  method: consentMethod().nullable().meta({
    description:
      "How the participant expressed the decision, for example `verbal` or `form`; null if no report stated it.",
    example: "verbal",
  }),
  reported_at: field(timestamp(), "When the decision was reported.", story.STARTED_AT),
});
