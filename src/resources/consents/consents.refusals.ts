import { unprocessable } from "../../http/errors.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";

/** In the report of a call. */
export const tooManyDecisions = () =>
  unprocessable(
    `call.participants: ${MAX_CONSENT_DECISIONS} decisions of a participant on being recorded are known; then only a refusal is taken`,
  );
