import { ApiError, unprocessable } from "../../http/errors.ts";

export const slugIsOld = () =>
  new ApiError(404, "Waiting room not found: the room that had this slug was renamed or retired");

export const participantIncomplete = () =>
  unprocessable("participant: display_name, role and waiting_since are required in the first report");

/** The fault of a `left_at` in a body that has a `waiting_since` too. */
export const LEFT_BEFORE_WAITING = "must not be before waiting_since";

export const leftTooEarly = () =>
  unprocessable("participant.left_at: must not be before waiting_since or joined_at");

export const participantNotMember = () =>
  unprocessable("participant.user_id: must be the user_id of a user of the organization");

export const roomInactive = () => unprocessable("The waiting room is not active: nobody can enter it");

export const participantLeftCall = () =>
  unprocessable("The participant has left a call: report their return under a new key");

/* In the report of a call: */

export const newParticipantIncomplete = () =>
  unprocessable("call.participants: display_name and role are required for a new participant");

export const participantsNotMembers = () =>
  unprocessable("call.participants: each user_id must be that of a user of the organization");

export const participantOnAnotherCall = () =>
  unprocessable("call.participants: a participant is on another call: report this person under a new key");

export const participantsLeftTooEarly = () =>
  unprocessable("call.participants: left_at must not be before joined_at or waiting_since");
