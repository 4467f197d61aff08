import type { Scope } from "../../database/enums.ts";
import { ApiError, invalidBody, notFound, unprocessable } from "../../http/errors.ts";
import { MAX_API_CLIENTS, MAX_API_CLIENTS_EVER } from "../../limits.ts";
import { grouped } from "../../units.ts";

export const invalidClient = () => new ApiError(401, "invalid_client", "Invalid client credentials");

export const apiClientNotFound = () => notFound("API client");

export const clientHasNoUser = () =>
  unprocessable(
    "not_a_member",
    "api_client.organization_user_id: must be the id of an organization user whose membership has not ended",
  );

export const tooManyClients = () =>
  unprocessable(
    "too_many_api_clients",
    `The organization has ${MAX_API_CLIENTS} API clients in use, which is the most that it can have: revoke one first`,
  );

export const madeAllClients = () =>
  unprocessable(
    "api_clients_used_up",
    `The organization has created ${grouped(MAX_API_CLIENTS_EVER)} API clients, revoked ones included, which is its limit: the operator can create another one`,
  );

export const beyondOwnRights = (message: string) => unprocessable("beyond_own_rights", message);

export const scopesBeyondOwn = (own: readonly Scope[]) =>
  beyondOwnRights(`api_client.scopes: must be within the scopes of your API client: ${own.join(", ")}`);

export const outlivesOwn = () =>
  beyondOwnRights("api_client.expires_at: must be given, and no later than that of your API client");

export const expiresInPast = () => invalidBody("api_client.expires_at: must be in the future");

export const clientRevokesItself = () =>
  unprocessable(
    "own_client",
    "Your request uses this API client: revoke it with another one, or with the platform API",
  );

/** For a replay, whose response cannot contain the secret. */
export const REVOKE_LOST_CLIENT =
  "The API client exists, but its secret is shown only once: if you do not have it, find the client in the list, revoke it, and create another one with a new key";
