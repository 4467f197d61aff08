import { unprocessable } from "../../http/errors.ts";
import { CONSENT_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { SECOND } from "../../units.ts";

/** In the report of a call. */
export const consentDecidedInFuture = () =>
  unprocessable(
    `call.participants: recording_consent_at must not be more than ${CONSENT_CLOCK_TOLERANCE / SECOND} seconds in the future`,
  );
