import type { VisitStatus } from "../../database/enums.ts";
import { ApiError, invalidBody, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_VISIT_AHEAD, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import { MAX_PLANNED_VISITS, MAX_VISIT_PARTICIPANTS } from "../../limits.ts";
import { DAY, grouped, HOUR } from "../../units.ts";

export const visitNotFound = () => notFound("Visit");

export const visitRoomOutOfReach = () =>
  unprocessable(
    "room_unknown",
    "visit.waiting_room_slug: must be the current slug of a waiting room of the organization, or of a provider that this client can access",
  );

export const visitHolderOutOfReach = () =>
  unprocessable(
    "not_a_provider",
    "visit.organization_user_id: must be a provider that this client can access; for a personal room it is the room's owner, and can be left out",
  );

export const visitTimesWrong = () =>
  invalidBody(
    `visit.ends_at: must be after starts_at, and at most ${MAX_VISIT_DURATION / HOUR} hours after it`,
  );

/** The time that the request contains: an error never names a field that was not sent. */
type SentTime = "starts_at" | "ends_at";

export const visitIsPast = (sent: SentTime) =>
  invalidBody(
    sent === "ends_at"
      ? "visit.ends_at: must not be in the past"
      : "visit.starts_at: must be later, so that the visit does not end in the past",
  );

/** @param place the participant's position in the list, here and below */
export const visitParticipantNotMember = (place: number) =>
  unprocessable(
    "not_a_member",
    `visit.participants.${place}.user_id: must be the user_id of a user who has an account in the organization`,
  );

export const visitParticipantUnknown = (place: number) =>
  unprocessable(
    "participant_unknown",
    `visit.participants.${place}.id: must be the id of a participant of the visit, not repeated; omit it for a new participant`,
  );

export const visitParticipantIncomplete = (place: number) =>
  unprocessable(
    "participant_incomplete",
    `visit.participants.${place}: display_name and role are required for a new participant`,
  );

/** A link does not sign anyone in: without an account, anyone who opens the link would join as a provider. */
export const visitProviderWithoutUser = (place: number) =>
  unprocessable(
    "provider_without_account",
    `visit.participants.${place}.user_id: is required for a provider`,
  );

export const visitTooFarAhead = (sent: SentTime) =>
  invalidBody(`visit.${sent}: must be at most ${MAX_VISIT_AHEAD / DAY / 365} years ahead`);

export const tooManyVisits = () =>
  unprocessable(
    "too_many_visits",
    `The organization has ${grouped(MAX_PLANNED_VISITS)} planned visits, which is the most that it can have: cancel some first`,
  );

export const visitStays = (status: VisitStatus, verb: "changed" | "cancelled", possible: string) =>
  unprocessable(
    "visit_not_changeable",
    `The visit is ${status}: only a visit that is ${possible} can be ${verb}`,
  );

export const visitStatusStays = () =>
  unprocessable("field_not_changeable", "visit.status: cannot be changed; DELETE cancels the visit");

export const visitRoomStays = () =>
  unprocessable(
    "field_not_changeable",
    "visit.waiting_room_id: cannot be changed; waiting_room_slug moves the visit to another room",
  );

export const visitReferenceErased = () =>
  unprocessable(
    "names_erased",
    "visit.external_reference: was erased with the name of a participant, and cannot be set again",
  );

export const visitParticipantErased = (place: number) =>
  unprocessable(
    "names_erased",
    `visit.participants.${place}: was erased, and cannot be changed: leave it out, and add a new participant`,
  );

export const WRONG_NUMBER_OF_PARTICIPANTS = `must have 1 to ${MAX_VISIT_PARTICIPANTS} participants`;

export const visitLinkNotValid = () =>
  new ApiError(404, "link_invalid", "The link of the visit is not valid");

export const visitLinkWithdrawn = () =>
  new ApiError(
    404,
    "link_withdrawn",
    "The link of the visit is no longer valid: its participant was removed from the visit",
  );

export const visitRoomRetired = () =>
  new ApiError(
    404,
    "link_withdrawn",
    "The link of the visit is no longer valid: the waiting room was retired",
  );

export const visitWasCancelled = () => unprocessable("visit_cancelled", "The visit was cancelled");

export const visitIsOver = () => unprocessable("visit_over", "The visit is over");
