import { unprocessable } from "../../http/errors.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";

/** In the report of a call. */
export const tooManyDecisions = () =>
  unprocessable(
    `call.participants: recording_consent was decided ${MAX_CONSENT_DECISIONS} times, as often as is kept: from now on only false is taken`,
  );
