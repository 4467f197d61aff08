import { callUnderLegalHold } from "./calls.refusals.ts";
import type { Call } from "./calls.schemas.ts";

/** @throws ApiError 422 if the call is under legal hold: then its recordings, transcript and SOAP note stay */
export function requireDeletableResults({ legal_hold }: Pick<Call, "legal_hold">) {
  if (legal_hold) throw callUnderLegalHold();
}
