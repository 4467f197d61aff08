import type { Operation } from "../../openapi/operation.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { callNotFound, callUnderLegalHold } from "../calls/calls.refusals.ts";

/** How the text of a call is deleted. */
export const deletionOperation = (operationId: string, text: string): Operation => ({
  operationId,
  summary: `Delete the ${text} of a call`,
  description: `If there is none, this is no error, and changes nothing. A ${text} that was deleted does not come back: a later report of it is refused.`,
  parameters: { key: callKey },
  errors: [callNotFound(), callUnderLegalHold()],
});
