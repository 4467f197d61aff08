import { ApiError, notFound } from "../../http/errors.ts";
import { MAX_CALLS_OF_REFERENCE } from "../../limits.ts";

export const accessLogsNotFound = () => notFound("Access logs");

export const tooManyCalls = () =>
  new ApiError(
    400,
    `external_reference: participants of more than ${MAX_CALLS_OF_REFERENCE} calls have it; ask for the entries of one call at a time, with call_id`,
  );
