import { notFound, unprocessable } from "../../http/errors.ts";

export const apiClientNotFound = () => notFound("API client");

export const clientHasNoUser = () =>
  unprocessable("api_client.organization_user_id: is not a user of the organization");
