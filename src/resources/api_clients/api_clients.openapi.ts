import type * as z from "zod";
import { CLIENT_KNOWN_FOR } from "../../limits.ts";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { apiClientSchema, issuedApiClientSchema } from "./api_clients.responses.ts";

const client = {
  id: 5,
  name: "Scheduling system",
  organization_user_id: 12,
  client_id: "Y2xpZW50LWlkLW9mLTE2LQ",
};

const listed: z.input<typeof apiClientSchema> = { ...client, revoked_at: null };

const issued: z.input<typeof issuedApiClientSchema> = {
  ...client,
  client_secret: "YS1jbGllbnQtc2VjcmV0LXRoYXQtaXMtMzItYnl0ZXM",
};

const fields = {
  id: "The id of the API client.",
  name: "The name of the API client, for people.",
  organization_user_id:
    "The organization user as whom the client acts. The client has the roles of this user.",
  client_id: "The value for the header `X-Client-ID`.",
};

export const apiClientsReference: Reference = {
  tag: "API clients",
  description:
    "The credentials for the external API. An organization can have several API clients. To rotate credentials, create a new client, change over to it, and revoke the old one.",
  schemas: {
    ApiClient: {
      schema: apiClientSchema,
      description: "An API client of an organization, without its secret.",
      fields: {
        ...fields,
        revoked_at: "When the API client was revoked; null while it is in use.",
      },
    },
    IssuedApiClient: {
      schema: issuedApiClientSchema,
      description: "The credentials with which an organization calls the external API.",
      fields: {
        ...fields,
        client_secret: "The value for the header `X-Client-Secret`. It is shown only in this response.",
      },
    },
  },
  platform: {
    "GET /organizations/:id/api_clients": {
      operationId: "listApiClients",
      summary: "List the API clients of an organization",
      description:
        "Revoked clients are in the list, with the time in `revoked_at`. Secrets are not: the service does not store them. The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("api_clients", apiClientSchema),
        example: { api_clients: [listed], pagination: onePage(1) },
      },
    },
    "POST /organizations/:id/api_clients": {
      operationId: "createApiClient",
      summary: "Create an API client for an organization",
      status: 201,
      request: {
        fields: {},
        example: { api_client: { name: "Scheduling system", organization_user_id: 12 } },
      },
      response: { schema: issuedApiClientSchema, example: issued },
      refusals: { 422: "`organization_user_id` is not a user of the organization." },
    },
    "DELETE /api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: `The client is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds.`,
      status: 204,
      refusals: { 404: "The API client does not exist or is already revoked." },
    },
  },
};
