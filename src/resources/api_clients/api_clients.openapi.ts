import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS, pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { secretIsNotStored } from "../idempotency_keys/idempotency_keys.refusals.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import {
  apiClientNotFound,
  clientHasNoUser,
  clientRevokesItself,
  madeAllClients,
  REVOKE_LOST_CLIENT,
  tooManyClients,
} from "./api_clients.refusals.ts";
import { apiClientSchema, issuedApiClientSchema } from "./api_clients.responses.ts";
import { createApiClientBody } from "./api_clients.schemas.ts";

const client = exampleOf(apiClientSchema);

const issued = exampleOf(issuedApiClientSchema);

const revoked: typeof client = {
  ...client,
  id: 4,
  client_id: "YW4tb2xkZXItY2xpZW50LQ",
  revoked_at: story.INVITED_AT,
};

const LIST =
  "Revoked clients are in the list. Secrets are not: the service does not store them. The list is ordered by id.";

const list = pageResponse("api_clients", apiClientSchema, {
  "After a rotation": [revoked, client],
  "An organization without API clients": [],
});

const LOST =
  "If the response is lost, so is the secret: revoke the client that the list shows, and create another one.";

const creation = {
  request: {
    fields: { api_client: "The API client." },
    example: exampleBody(createApiClientBody(), issued),
  },
  response: { schema: issuedApiClientSchema, example: issued },
};

const REVOCATION = `The client is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. This cannot be undone. What the client created stays.`;

const byId = {
  id: { description: "The id of the API client: its `id`, not its `client_id`.", example: client.id },
};

export const apiClientsReference: Reference = {
  tag: "API clients",
  description:
    "The credentials for the external API. An organization can have several API clients, for example one for each of its systems. To rotate credentials, create a new client, change over to it, and revoke the old one.",
  external: {
    "GET /api_clients": {
      operationId: "listOwnApiClients",
      summary: "List the API clients of your organization",
      description: LIST,
      response: list,
      refusals: FOR_ADMINISTRATORS,
      errors: [apiClientNotFound()],
    },
    "POST /api_clients": {
      operationId: "createOwnApiClient",
      summary: "Create an API client for your organization",
      description: `Only clients of an organization_admin can do this. ${LOST}`,
      ...creation,
      refusals: {
        ...FOR_ADMINISTRATORS,
        409: "A request with this `Idempotency-Key` was carried out before. The secret is not shown a second time.",
      },
      errors: [
        apiClientNotFound(),
        clientHasNoUser(),
        tooManyClients(),
        madeAllClients(),
        secretIsNotStored(REVOKE_LOST_CLIENT),
      ],
    },
    "DELETE /api_clients/:id": {
      operationId: "revokeOwnApiClient",
      summary: "Revoke an API client",
      description: `${REVOCATION} The client of the request itself cannot be revoked.`,
      parameters: byId,
      refusals: {
        404: "The client does not act as an organization_admin, or there is no such API client, or it is already revoked.",
      },
      errors: [apiClientNotFound(), clientRevokesItself()],
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
      errors: [organizationNotFound(), clientHasNoUser(), tooManyClients()],
    },
    "DELETE /organizations/:organization_id/api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: REVOCATION,
      parameters: byId,
      refusals: {
        404: "The organization or the API client does not exist, or the client is already revoked.",
      },
      errors: [organizationNotFound(), apiClientNotFound()],
    },
  },
};
