import { ApiError, notFound, unprocessable } from "../../http/errors.ts";

/** The same for every cause. */
export const INVALID_CLIENT = "Invalid client credentials";

export const invalidClient = () => new ApiError(401, INVALID_CLIENT);

export const apiClientNotFound = () => notFound("API client");

export const clientHasNoUser = () =>
  unprocessable(
    "api_client.organization_user_id: must be the id of an organization user whose membership has not ended",
  );
