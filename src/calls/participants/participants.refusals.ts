import { ApiError, invalidBody, notFound, unprocessable } from "../../http/errors.ts";

const BY_REPORTS = "it follows the reports of the platform, and the visit";

export const PARTICIPANT_STAYS = {
  role: BY_REPORTS,
  user_id: BY_REPORTS,
  waiting_since: BY_REPORTS,
  joined_at: BY_REPORTS,
  left_at: BY_REPORTS,
  recording_consent: BY_REPORTS,
};

export const participantNotFound = () => notFound("Participant");

export const participantErased = () =>
  unprocessable("names_erased", "participant: was erased, and cannot be changed");

export const slugIsOld = () =>
  new ApiError(
    404,
    "slug_outdated",
    "Waiting room not found: the room that had this slug was renamed or retired",
  );

export const participantIncomplete = () =>
  unprocessable(
    "first_report_incomplete",
    "participant: display_name, role and waiting_since are required in the first report",
  );

export const LEFT_BEFORE_WAITING = "must not be before waiting_since";

export const leftTooEarly = () =>
  invalidBody("participant.left_at: must not be before waiting_since or joined_at");

export const participantNotMember = () =>
  unprocessable("not_a_member", "participant.user_id: must be the user_id of a user of the organization");

export const roomInactive = () =>
  unprocessable("room_inactive", "The waiting room is not active: nobody can enter it");

export const participantLeftCall = () =>
  unprocessable("participant_left", "The participant has left a call: report their return under a new key");

/* The refusals of a call's report: */

/** @param place the participant's position in the report, here and below */
export const newParticipantIncomplete = (place: number) =>
  unprocessable(
    "participant_incomplete",
    `call.participants.${place}: display_name and role are required for a new participant`,
  );

export const participantOnCallNotMember = (place: number) =>
  unprocessable(
    "not_a_member",
    `call.participants.${place}.user_id: must be the user_id of a user of the organization`,
  );

export const participantOnAnotherCall = (place: number) =>
  unprocessable(
    "participant_on_other_call",
    `call.participants.${place}.key: is on another call: report this person under a new key`,
  );

export const participantLeftTooEarly = (place: number) =>
  invalidBody(`call.participants.${place}.left_at: must not be before joined_at or waiting_since`);
