import { ApiError, unprocessable } from "../http/errors.ts";

/** For a room whose name begins with the slug of no organization. */
export const noOrganization = () => new ApiError(404, "no organization");

export const metadataNamesStranger = () =>
  unprocessable("The room's metadata does not name a user of the organization");
