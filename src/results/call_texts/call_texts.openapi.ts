import { callKey } from "../../calls/calls/calls.openapi.ts";
import { callNotFound, callUnderLegalHold } from "../../calls/calls/calls.refusals.ts";
import type { Operation } from "../../openapi/operation.ts";

/** Deletion by the platform. */
export const deletionOperation = (operationId: string, text: string): Operation => ({
  ...deletionOf(text, operationId),
  parameters: { key: callKey },
});

/** Deletion by an organization. */
export const ownDeletionOperation = (operationId: string, text: string): Operation => ({
  ...deletionOf(text, operationId),
});

const deletionOf = (text: string, operationId: string) => ({
  operationId,
  summary: `Delete the ${text} of a call`,
  description: `Succeeds without any change if the call has no ${text}. A deleted ${text} does not come back: later reports of it are refused.`,
  errors: [callNotFound(), callUnderLegalHold()],
});
