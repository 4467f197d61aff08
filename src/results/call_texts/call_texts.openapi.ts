import { callNotFound, callUnderLegalHold } from "../../calls/calls/calls.refusals.ts";
import type { Operation } from "../../openapi/operation.ts";

export const deletionOf = (operationId: string, text: string): Operation => ({
  operationId,
  summary: `Delete the ${text} of a call`,
  description: `Succeeds without any change if the call has no ${text}. A deleted ${text} does not come back: later reports of it are refused.`,
  errors: [callNotFound(), callUnderLegalHold()],
});
