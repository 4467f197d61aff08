import { invalidBody, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_CALL_PARTICIPANTS } from "../../limits.ts";

export const callNotFound = () => notFound("Call");

export const callOwnerNotFound = () => notFound("Organization user");

const BY_REPORTS = "it follows the platform's reports of the call";

export const CALL_STAYS = {
  organization_user_id: BY_REPORTS,
  waiting_room_id: BY_REPORTS,
  visit_id: BY_REPORTS,
  is_ended: BY_REPORTS,
  started_at: BY_REPORTS,
  ended_at: BY_REPORTS,
  ended_by: BY_REPORTS,
  failed: BY_REPORTS,
  legal_hold: "use PUT or DELETE of the call's legal_hold",
};

export const callNamesNoRoom = () =>
  unprocessable(
    "first_report_incomplete",
    "call.waiting_room_slug: the first report must name a waiting room of the organization",
  );

export const callNamesUnknownRoom = () =>
  unprocessable(
    "room_unknown",
    "call.waiting_room_slug: must be a slug that a waiting room of the organization has, or had",
  );

export const callIncomplete = () =>
  unprocessable(
    "first_report_incomplete",
    "call: organization_user_id and started_at are required in the first report",
  );

export const callOwnerNotMember = () =>
  unprocessable("not_a_member", "call.organization_user_id: must be a user of the organization");

export const callEndsTooEarly = (sent: "started_at" | "ended_at") =>
  invalidBody(
    sent === "ended_at"
      ? "call.ended_at: must not be before started_at"
      : "call.started_at: must not be after ended_at",
  );

export const callUnderLegalHold = () =>
  unprocessable("legal_hold", "The call is under legal hold: end the hold first");

export const callReferenceErased = () =>
  unprocessable(
    "names_erased",
    "call.external_reference: was erased with the names of the call's participants, and cannot be set again",
  );

export const TOO_MANY_PARTICIPANTS = `must name at most ${MAX_CALL_PARTICIPANTS} participants`;
export const PARTICIPANT_REPEATED = "names an earlier participant again";
