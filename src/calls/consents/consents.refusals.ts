import { unprocessable } from "../../http/errors.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";

export const tooManyDecisions = () =>
  unprocessable(
    "too_many_consent_decisions",
    `call.participants: recording_consent was decided ${MAX_CONSENT_DECISIONS} times, which is the limit: only false is accepted from now on`,
  );
