import { ApiError, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_API_CLIENTS, MAX_API_CLIENTS_EVER } from "../../limits.ts";

/** The same for every cause. */
export const INVALID_CLIENT = "Invalid client credentials";

export const invalidClient = () => new ApiError(401, INVALID_CLIENT);

export const apiClientNotFound = () => notFound("API client");

export const clientHasNoUser = () =>
  unprocessable(
    "api_client.organization_user_id: must be the id of an organization user whose membership has not ended",
  );

export const tooManyClients = () =>
  unprocessable(
    `The organization has ${MAX_API_CLIENTS} API clients in use, which is the most that it can have: revoke one first`,
  );

export const madeAllClients = () =>
  unprocessable(
    `The organization has made ${MAX_API_CLIENTS_EVER} API clients, as many as it may, revoked ones included: the operator can make another one`,
  );

export const clientRevokesItself = () =>
  unprocessable("Your request uses this API client: revoke it with another one, or with the platform API");

/** To the caller of a replay, for whom the secret is lost. */
export const REVOKE_LOST_CLIENT =
  "The API client exists, but its secret is shown only once: if you do not have it, find the client in the list, revoke it, and create another one with a new key";
