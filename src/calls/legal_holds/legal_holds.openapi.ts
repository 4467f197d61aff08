import type * as z from "zod";
import type { HoldBeginner } from "../../database/enums.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { callNotFound } from "../calls/calls.refusals.ts";
import { callDetailsSchema, reportedCallSchema } from "../calls/calls.responses.ts";
import { holdOfPlatform } from "./legal_holds.schemas.ts";

/** Shared by both APIs. */
function beginning(begun_by: HoldBeginner, schema: z.ZodObject) {
  return {
    request: {
      fields: {
        legal_hold: "The legal hold.",
        "legal_hold.reason":
          "The reason, for the people who manage holds. It should not name a person. If omitted, the reason stays, and a new hold has none. `null` clears it.",
      },
      example: { legal_hold: { reason: story.HOLD.reason } },
    },
    response: { schema, example: { ...exampleOf(schema), legal_hold: { ...story.HOLD, begun_by } } },
  };
}

const BEGINNING =
  "If a hold is running, this changes its reason, but not its beginning. A file that the service is already deleting may be lost: check whether a recording of the call has the status `egress_deleted`.";

const END =
  "It is not an error if there is no hold. The next run of retention then deletes the results that are past their retention, and recordings whose deletion was requested before the hold but failed.";

export const legalHoldsReference: Reference = {
  tag: "Legal holds",
  description:
    "While a call is under legal hold, neither retention nor a request deletes its recordings, its transcript or its SOAP note. Files that earlier reports named stay too. A hold states who began it: the organization, or the platform that operates the service. Only the platform can change and end its own holds. The service keeps every hold, even after it has ended.",
  external: {
    "PUT /organization_users/:organization_user_id/calls/:call_id/legal_hold": {
      operationId: "holdOwnCall",
      summary: "Begin the legal hold of a call",
      description: BEGINNING,
      ...beginning("organization", callDetailsSchema),
      errors: [callNotFound(), holdOfPlatform()],
    },
    "DELETE /organization_users/:organization_user_id/calls/:call_id/legal_hold": {
      operationId: "releaseOwnCall",
      summary: "End the legal hold of a call",
      description: END,
      errors: [callNotFound(), holdOfPlatform()],
    },
  },
  platform: {
    "PUT /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "holdCall",
      summary: "Begin the legal hold of a call",
      description: `Begins a hold of the platform, which the organization cannot end. A hold that the organization began becomes the platform's. ${BEGINNING}`,
      ...beginning("platform", reportedCallSchema),
      errors: [callNotFound()],
    },
    "DELETE /organizations/:organization_id/calls/:key/legal_hold": {
      operationId: "releaseCall",
      summary: "End the legal hold of a call",
      description: `Ends the hold, no matter who began it. ${END}`,
      errors: [callNotFound()],
    },
  },
};
