import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_CALL_PARTICIPANTS } from "../../limits.ts";

export const callNotFound = () => notFound("Call");

/** The organization user whose calls a path names. */
export const callOwnerNotFound = () => notFound("Organization user");

export const callNamesNoRoom = () =>
  unprocessable("call.waiting_room_slug: the first report must name a waiting room of the organization");

export const callNamesUnknownRoom = () =>
  unprocessable("call.waiting_room_slug: must be the current slug of a waiting room of the organization");

export const callIncomplete = () =>
  unprocessable("call: organization_user_id and started_at are required in the first report");

export const callOwnerNotMember = () =>
  unprocessable("call.organization_user_id: must be a user of the organization");

export const callEndsTooEarly = () => unprocessable("call.ended_at: must not be before started_at");

export const callUnderLegalHold = () => unprocessable("The call is under legal hold: end the hold first");

export const callReferenceErased = () =>
  unprocessable(
    "call.external_reference: was erased with the names of the call's participants, and cannot be set again",
  );

/** Faults of the list of participants. */
export const TOO_MANY_PARTICIPANTS = `must name at most ${MAX_CALL_PARTICIPANTS} participants`;
export const PARTICIPANT_REPEATED = "must name each participant once";
