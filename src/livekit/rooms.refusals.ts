import { ApiError, unprocessable } from "../http/errors.ts";

/** If the room's name does not begin with an organization's slug. */
export const noOrganization = () => new ApiError(404, "not_found", "no organization");

/** @param why the reason for the log */
export const metadataUnusable = (why: string) => unprocessable("metadata_unusable", why);

export const metadataNamesStranger = () =>
  unprocessable("not_a_member", "The room's metadata does not name a user of the organization");
