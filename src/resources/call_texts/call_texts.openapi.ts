import { FOR_ADMINISTRATORS_WHO_REACH_IT, type Operation } from "../../openapi/operation.ts";
import { callKey } from "../calls/calls.openapi.ts";
import { callNotFound, callUnderLegalHold } from "../calls/calls.refusals.ts";

/** How the platform deletes the text of a call. */
export const deletionOperation = (operationId: string, text: string): Operation => ({
  ...deletionOf(text, operationId),
  parameters: { key: callKey },
});

/** How an organization does. */
export const ownDeletionOperation = (operationId: string, text: string): Operation => ({
  ...deletionOf(text, operationId),
  refusals: FOR_ADMINISTRATORS_WHO_REACH_IT,
});

const deletionOf = (text: string, operationId: string) => ({
  operationId,
  summary: `Delete the ${text} of a call`,
  description: `If there is none, this is no error, and changes nothing. A ${text} that was deleted does not come back: a later report of it is refused.`,
  errors: [callNotFound(), callUnderLegalHold()],
});
