import type * as z from "zod";
import type { HoldBeginner } from "../../database/enums.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS_WHO_REACH_IT, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { callWithResultsSchema, reportedCallSchema } from "../calls/calls.responses.ts";
import { holdOfPlatform } from "./legal_holds.refusals.ts";

const corrected = "Case 2026-118 of the district court, and case 2026-131";

/** What both APIs say of a hold that begins, with what they return. */
function beginning(begun_by: HoldBeginner, schema: z.ZodObject) {
  const hold = { ...story.HOLD, begun_by };
  const held = { ...exampleOf(schema), legal_hold: hold };
  return {
    request: {
      fields: {
        legal_hold: "What to record about the hold.",
        "legal_hold.reason":
          "Why, for those who look after holds; it should name no person. Left out: the reason stays, and a new hold has none. `null` clears it.",
      },
      examples: {
        "A hold begins": { legal_hold: { reason: story.HOLD.reason } },
        "The reason changes": { legal_hold: { reason: corrected } },
        "Without a reason": { legal_hold: {} },
      },
    },
    response: {
      schema,
      examples: {
        "Under legal hold": held,
        "With another reason": { ...held, legal_hold: { ...hold, reason: corrected } },
      },
    },
  };
}

const BEGINNING =
  "If one is running, this changes its reason, and it goes on from when it began. A file that the service is already deleting may be lost: look whether a recording of the call says `egress_deleted`.";

const END =
  "If there is none, this is no error. Then retention deletes what has become too old, with its next run, and a recording whose deletion was asked for before the hold, and failed.";

export const legalHoldsReference: Reference = {
  tag: "Legal holds",
  description:
    "As long as a call is under legal hold, neither retention nor a request deletes its recordings, its transcript or its SOAP note. Files that reports named before stay too. A hold says who began it: the organization itself, or the platform that operates the service, which alone can change and end its own. The service keeps each hold, also when it has ended.",
  external: {
    "PUT /organization_users/:organization_user_id/calls/:call_id/legal_hold": {
      operationId: "holdOwnCall",
      summary: "Begin the legal hold of a call",
      description: `Only clients of an organization_admin can do this. ${BEGINNING}`,
      ...beginning("organization", callWithResultsSchema),
      refusals: FOR_ADMINISTRATORS_WHO_REACH_IT,
      errors: [callNotFound(), holdOfPlatform()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/legal_hold": {
      operationId: "releaseOwnCall",
      summary: "End the legal hold of a call",
      description: `Only clients of an organization_admin can do this. ${END}`,
      refusals: FOR_ADMINISTRATORS_WHO_REACH_IT,
      errors: [callNotFound(), holdOfPlatform()],
    },
  },
  platform: {
    "PUT /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "holdCall",
      summary: "Begin the legal hold of a call",
      description: `Begins a hold of the platform, which the organization cannot end. One that the organization began becomes the platform's. ${BEGINNING}`,
      parameters: { key: callKey },
      ...beginning("platform", reportedCallSchema),
      errors: [callNotFound()],
    },
    "DELETE /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "releaseCall",
      summary: "End the legal hold of a call",
      description: `Ends it whoever began it. ${END}`,
      parameters: { key: callKey },
      errors: [callNotFound()],
    },
  },
};
