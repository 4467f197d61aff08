import { unprocessable } from "../../http/errors.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";

/** In the report of a call. */
export const tooManyDecisions = () =>
  unprocessable(`call.participants: after ${MAX_CONSENT_DECISIONS} decisions only a refusal is taken`);
