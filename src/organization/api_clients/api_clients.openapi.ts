import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { secretIsNotStored } from "../idempotency_keys/idempotency_keys.refusals.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import * as refusals from "./api_clients.refusals.ts";
import { apiClientSchema, issuedApiClientSchema, ownApiClientSchema } from "./api_clients.responses.ts";
import { createApiClientBody } from "./api_clients.schemas.ts";

const UNLIMITED = { scopes: null, expires_at: null };

const limited = exampleOf(apiClientSchema);

const client = { ...limited, ...UNLIMITED };

const issuedLimited = exampleOf(issuedApiClientSchema);

const issued = { ...issuedLimited, ...UNLIMITED };

const revoked: typeof client = {
  ...client,
  ...story.REVOKED_CLIENT,
  last_used_at: story.SET_UP_AT,
  revoked_at: story.REVOKED_AT,
};

const LIST =
  "Includes revoked and expired clients. An expired client counts as in use until it is revoked. The list never contains secrets, because the service does not store them. It is ordered by id.";

const list = pageResponse("api_clients", apiClientSchema, { "After a rotation": [revoked, client] });

const LOST =
  "If the response is lost, so is the secret: find the client in the list, revoke it, and create another one.";

const creation = {
  request: {
    fields: { api_client: "The API client." },
    examples: {
      "A client with all permissions of its user": {
        api_client: { name: issued.name, organization_user_id: issued.organization_user_id },
      },
      "A client for one program": exampleBody(createApiClientBody(), issuedLimited),
    },
  },
  response: {
    schema: issuedApiClientSchema,
    examples: {
      "A client with all permissions of its user": issued,
      "A client for one program": issuedLimited,
    },
  },
};

const REVOCATION = `The client is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. This cannot be undone. Everything that the client created stays.`;

export const apiClientsReference: Reference = {
  tag: "API clients",
  parameters: {
    id: { description: "The id of the API client: its `id`, not its `client_id`.", example: client.id },
  },
  description:
    "The credentials for the external API. An organization can have several API clients, for example one for each of its systems. To rotate credentials, create a new client, switch over to it, and revoke the old one.",
  external: {
    "GET /api_client": {
      operationId: "getOwnApiClient",
      summary: "Get your API client",
      description: "Returns the client that sends the request. No scope or role is needed.",
      response: { schema: ownApiClientSchema },
    },
    "GET /api_clients": {
      operationId: "listOwnApiClients",
      summary: "List the API clients of your organization",
      description: LIST,
      response: list,
    },
    "POST /api_clients": {
      operationId: "createOwnApiClient",
      summary: "Create an API client for your organization",
      description: `A client with scopes can only create clients within those scopes, and a client with \`expires_at\` only clients that expire no later. ${LOST}`,
      ...creation,
      refusals: {
        409: "A request with this `Idempotency-Key` was already carried out. The secret is not shown again.",
      },
      errors: [
        refusals.apiClientNotFound(),
        refusals.clientHasNoUser(),
        refusals.tooManyClients(),
        refusals.madeAllClients(),
        refusals.scopesBeyondOwn(["organization:write"]),
        refusals.outlivesOwn(),
        refusals.expiresInPast(),
        secretIsNotStored(refusals.REVOKE_LOST_CLIENT),
      ],
    },
    "DELETE /api_clients/:id": {
      operationId: "revokeOwnApiClient",
      summary: "Revoke an API client",
      description: `${REVOCATION} A client cannot revoke itself.`,
      errors: [refusals.apiClientNotFound(), refusals.clientRevokesItself()],
    },
  },
  platform: {
    "GET /organizations/:organization_id/api_clients": {
      operationId: "listApiClients",
      summary: "List the API clients of an organization",
      description: LIST,
      response: list,
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/api_clients": {
      operationId: "createApiClient",
      summary: "Create an API client for an organization",
      description: LOST,
      ...creation,
      errors: [
        organizationNotFound(),
        refusals.clientHasNoUser(),
        refusals.tooManyClients(),
        refusals.expiresInPast(),
      ],
    },
    "DELETE /organizations/:organization_id/api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: REVOCATION,
      errors: [organizationNotFound(), refusals.apiClientNotFound()],
    },
  },
};
