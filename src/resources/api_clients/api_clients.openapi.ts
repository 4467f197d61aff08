import type * as z from "zod";
import { CLIENT_KNOWN_FOR } from "../../limits.ts";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { INVITED_AT, OLGA } from "../../openapi/story.ts";
import { noOrganization, organizationParameter } from "../organizations/organizations.openapi.ts";
import { apiClientSchema, issuedApiClientSchema } from "./api_clients.responses.ts";

const client = {
  id: 5,
  name: "Scheduling system",
  organization_user_id: OLGA.id,
  client_id: "Y2xpZW50LWlkLW9mLTE2LQ",
};

const issued: z.input<typeof issuedApiClientSchema> = {
  ...client,
  client_secret: "YS1jbGllbnQtc2VjcmV0LXRoYXQtaXMtMzItYnl0ZXM",
};

const listed: z.input<typeof apiClientSchema> = { ...client, revoked_at: null };

const revoked: z.input<typeof apiClientSchema> = {
  ...client,
  id: 4,
  client_id: "YW4tb2xkZXItY2xpZW50LQ",
  revoked_at: INVITED_AT,
};

export const apiClientsReference: Reference = {
  tag: "API clients",
  description:
    "The credentials for the external API. An organization can have several API clients, for example one for each of its systems. To rotate credentials, create a new client, change over to it, and revoke the old one.",
  platform: {
    "GET /organizations/:id/api_clients": {
      operationId: "listApiClients",
      summary: "List the API clients of an organization",
      description:
        "Revoked clients are in the list. Secrets are not: the service does not store them. The list is ordered by id.",
      status: 200,
      parameters: { id: organizationParameter },
      response: {
        schema: pageOf("api_clients", apiClientSchema),
        examples: {
          "After a rotation": { api_clients: [revoked, listed], pagination: onePage(2) },
          "An organization without API clients": { api_clients: [], pagination: onePage(0) },
        },
      },
      errors: noOrganization,
    },
    "POST /organizations/:id/api_clients": {
      operationId: "createApiClient",
      summary: "Create an API client for an organization",
      description:
        "If the response is lost, so is the secret: revoke the client that the list shows, and create another one.",
      status: 201,
      parameters: { id: organizationParameter },
      request: {
        fields: {
          api_client: "The API client.",
          "api_client.name":
            "A name by which people know the client. Spaces at its ends are removed. Several clients can have the same name.",
          "api_client.organization_user_id":
            "The `id` (not the `user_id`) of the organization user as whom the client acts. The membership must not have ended. The client can do what the roles of this user allow, also when they change: for a client that serves the whole organization, choose an organization_admin.",
        },
        example: {
          api_client: { name: client.name, organization_user_id: client.organization_user_id },
        },
      },
      response: { schema: issuedApiClientSchema, example: issued },
      errors: {
        ...noOrganization,
        422: ["api_client.organization_user_id: is not a user of the organization"],
      },
    },
    "DELETE /api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: `The client is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds. This cannot be undone. What the client created stays.`,
      status: 204,
      parameters: {
        id: {
          description: "The id of the API client: its `id`, not its `client_id`.",
          example: client.id,
        },
      },
      refusals: { 404: "The API client does not exist or is already revoked." },
      errors: { 404: ["API client not found"] },
    },
  },
};
