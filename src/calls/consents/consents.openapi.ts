import * as z from "zod";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { consentSchema } from "./consents.responses.ts";

const granted = exampleOf(consentSchema);

const paulas: typeof granted = {
  ...granted,
  id: 72,
  participant_id: story.PAULAS_PARTICIPANT.id,
  method: null,
};

const withdrawn: typeof granted = {
  ...granted,
  id: 73,
  decision: "withdrawn",
  decided_at: story.WITHDRAWN_AT,
  reported_at: story.WITHDRAWN_AT,
};

export const consentsReference: Reference = {
  tag: "Consents",
  description:
    "The decisions of a call's participants on being recorded. A decision is never changed or deleted, and a later decision does not hide an earlier one. The latest of a participant's decisions by `decided_at` counts; of a consent and a refusal at the same time, the refusal counts. The event `consent.withdrawn` means that a participant who had consented no longer does.",
  external: {
    "GET /organization_users/:organization_user_id/calls/:call_id/consents": {
      operationId: "listConsents",
      summary: "List the consents of a call",
      description:
        "Lists the decisions of the participants, oldest first by `decided_at`. Of several refusals in a row, only the first is listed. You can list them while the call is going on. A participant who is not in the list was not asked, and so has not consented.",
      response: {
        schema: z.object({
          consents: z
            .array(consentSchema)
            .describe("The decisions of all participants of the call; empty if nobody was asked."),
        }),
        examples: {
          "Both consented": { consents: [granted, paulas] },
          "One withdrew consent": { consents: [granted, paulas, withdrawn] },
          "Nobody was asked": { consents: [] },
        },
      },
      errors: [callNotFound()],
    },
  },
};
