import { notFound, unprocessable } from "../../http/errors.ts";

export const organizationUserNotFound = () => notFound("Organization user");

export const emailHasAccount = () =>
  unprocessable("user.email: belongs to a user of the organization already; to change the user, use PUT");

/** The fault of an empty list of roles that is to replace those of a user. */
export const NO_ROLE_LEFT = "must name at least one role; to end the membership, use DELETE";

export const notAnAssistant = () =>
  unprocessable("user.assists: is for those who have the role provider_assistant");

export const assistsNonProvider = () =>
  unprocessable("user.assists: must name providers of the organization");
