import { callUnderLegalHold } from "./calls.refusals.ts";
import type { ReportedCall } from "./calls.schemas.ts";

/** @throws ApiError 422 if the call is under legal hold: then its recordings, transcript and SOAP note stay */
export function requireDeletableResults({ hold_id }: Pick<ReportedCall, "hold_id">) {
  if (hold_id !== null) throw callUnderLegalHold();
}
