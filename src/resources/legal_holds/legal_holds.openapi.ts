import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { reportedCallSchema } from "../calls/calls.responses.ts";

const held = {
  ...exampleOf(reportedCallSchema),
  legal_hold: { reason: story.HOLD_REASON, began_at: story.HELD_SINCE },
};

const corrected = "Case 2026-118 of the district court, and case 2026-131";

export const legalHoldsReference: Reference = {
  tag: "Legal holds",
  description:
    "As long as a call is under legal hold, neither retention nor a request deletes its recordings, its transcript or its SOAP note. Files that reports named before stay too. The service keeps each hold, also when it has ended.",
  platform: {
    "PUT /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "holdCall",
      summary: "Begin the legal hold of a call",
      description:
        "Begins a hold. If one is running, this changes its reason, and it goes on from when it began. A file that the service is already deleting may be lost: look whether a recording of the call says `egress_deleted`.",
      parameters: { key: callKey },
      request: {
        fields: {
          legal_hold: "What to record about the hold.",
          "legal_hold.reason":
            "Why, for those who look after holds; it should name no person. Left out: the reason stays, and a new hold has none. `null` clears it.",
        },
        examples: {
          "A hold begins": { legal_hold: { reason: story.HOLD_REASON } },
          "The reason changes": { legal_hold: { reason: corrected } },
          "Without a reason": { legal_hold: {} },
        },
      },
      response: {
        schema: reportedCallSchema,
        examples: {
          "Under legal hold": held,
          "With another reason": { ...held, legal_hold: { ...held.legal_hold, reason: corrected } },
        },
      },
      errors: [callNotFound()],
    },
    "DELETE /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "releaseCall",
      summary: "End the legal hold of a call",
      description:
        "If there is none, this is no error. Then retention deletes what has become too old, with its next run.",
      parameters: { key: callKey },
      errors: [callNotFound()],
    },
  },
};
