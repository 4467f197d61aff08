import { CLIENT_KNOWN_FOR } from "../../lifetimes.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { apiClientNotFound, clientHasNoUser } from "./api_clients.refusals.ts";
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

export const apiClientsReference: Reference = {
  tag: "API clients",
  description:
    "The credentials for the external API. An organization can have several API clients, for example one for each of its systems. To rotate credentials, create a new client, change over to it, and revoke the old one.",
  platform: {
    "GET /organizations/:organization_id/api_clients": {
      operationId: "listApiClients",
      summary: "List the API clients of an organization",
      description:
        "Revoked clients are in the list. Secrets are not: the service does not store them. The list is ordered by id.",
      response: pageResponse("api_clients", apiClientSchema, {
        "After a rotation": [revoked, client],
        "An organization without API clients": [],
      }),
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/api_clients": {
      operationId: "createApiClient",
      summary: "Create an API client for an organization",
      description:
        "If the response is lost, so is the secret: revoke the client that the list shows, and create another one.",
      request: {
        fields: { api_client: "The API client." },
        example: exampleBody(createApiClientBody(), issued),
      },
      response: { schema: issuedApiClientSchema, example: issued },
      errors: [organizationNotFound(), clientHasNoUser()],
    },
    "DELETE /organizations/:organization_id/api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: `The client is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. This cannot be undone. What the client created stays.`,
      parameters: {
        id: { description: "The id of the API client: its `id`, not its `client_id`.", example: client.id },
      },
      refusals: { 404: "The API client does not exist or is already revoked." },
      errors: [apiClientNotFound()],
    },
  },
};
