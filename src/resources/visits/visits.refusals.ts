import type { VisitStatus } from "../../database/enums.ts";
import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_VISIT_AHEAD, MAX_VISIT_DURATION } from "../../lifetimes.ts";
import { MAX_PLANNED_VISITS, MAX_VISIT_PARTICIPANTS } from "../../limits.ts";
import { DAY, HOUR } from "../../units.ts";

export const visitNotFound = () => notFound("Visit");

export const visitRoomOutOfReach = () =>
  unprocessable(
    "visit.waiting_room_slug: must be the current slug of a waiting room of the organization, or of a provider whom you reach",
  );

export const visitHolderOutOfReach = () =>
  unprocessable(
    "visit.organization_user_id: must be a provider whom you reach; for a personal room it is the room's owner, and can be left out",
  );

export const visitTimesWrong = () =>
  unprocessable(
    `visit.ends_at: must be after starts_at, and at most ${MAX_VISIT_DURATION / HOUR} hours after it`,
  );

export const visitIsPast = () => unprocessable("visit.ends_at: must not be in the past");

export const visitParticipantsNotMembers = () =>
  unprocessable(
    "visit.participants: each user_id must be that of a user who has an account in the organization",
  );

export const visitParticipantUnknown = () =>
  unprocessable(
    "visit.participants: each id must be that of a participant of the visit, once; leave it out for a new one",
  );

export const visitParticipantIncomplete = () =>
  unprocessable("visit.participants: display_name and role are required for a new participant");

/** A link signs nobody in, so without an account whoever has the link would come in as a provider. */
export const visitProviderWithoutUser = () =>
  unprocessable("visit.participants: a provider must have the user_id of an account");

export const visitTooFarAhead = () =>
  unprocessable(`visit.ends_at: must be at most ${MAX_VISIT_AHEAD / DAY / 365} years ahead`);

export const tooManyVisits = () =>
  unprocessable(
    `The organization has ${MAX_PLANNED_VISITS} planned visits, which is the most that it can have: cancel some first`,
  );

export const visitStays = (status: VisitStatus, verb: "changed" | "cancelled", possible: string) =>
  unprocessable(`The visit is ${status}: only one that is ${possible} can be ${verb}`);

export const visitErased = () =>
  unprocessable("The names of the visit were erased, so it can no longer be changed: plan another one");

/** A fault of a list of participants. */
export const WRONG_NUMBER_OF_PARTICIPANTS = `must have 1 to ${MAX_VISIT_PARTICIPANTS} participants`;

/* Of a link that is redeemed: */

export const visitLinkNotValid = () => new ApiError(404, "The link of the visit is not valid");

export const visitLinkWithdrawn = () =>
  new ApiError(404, "The link of the visit is no longer valid: its participant was removed from the visit");

export const visitRoomRetired = () =>
  new ApiError(404, "The link of the visit is no longer valid: the waiting room was retired");

export const visitWasCancelled = () => unprocessable("The visit was cancelled");

export const visitIsOver = () => unprocessable("The visit is over");
