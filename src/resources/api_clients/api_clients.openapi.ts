import type * as z from "zod";
import { CLIENT_KNOWN_FOR } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { apiClientSchema } from "./api_clients.schemas.ts";

const client: z.input<typeof apiClientSchema> = {
  id: 5,
  name: "Scheduling system",
  organization_user_id: 12,
  client_id: "Y2xpZW50LWlkLW9mLTE2LQ",
  client_secret: "YS1jbGllbnQtc2VjcmV0LXRoYXQtaXMtMzItYnl0ZXM",
};

export const apiClientsReference: Reference = {
  tag: "API clients",
  description:
    "The credentials of the external API. An organization may hold several: to change them, create new ones, switch over, and revoke the old.",
  schemas: {
    ApiClient: {
      schema: apiClientSchema,
      description: "Credentials with which an organization calls the external API.",
      fields: {
        id: "Identifies the client.",
        name: "What the client is called.",
        organization_user_id: "The organization user as whom the client acts, with that user's roles.",
        client_id: "What goes into the header `X-Client-ID`.",
        client_secret: "What goes into the header `X-Client-Secret`; shown now and never again.",
      },
    },
  },
  platform: {
    "POST /organizations/:id/api_clients": {
      operationId: "createApiClient",
      summary: "Create an API client of an organization",
      status: 201,
      requestExample: { api_client: { name: "Scheduling system", organization_user_id: 12 } },
      response: { schema: apiClientSchema, example: client },
      refusals: { 422: "`organization_user_id` is not a user of the organization." },
    },
    "DELETE /api_clients/:id": {
      operationId: "revokeApiClient",
      summary: "Revoke an API client",
      description: `It is refused everywhere within ${CLIENT_KNOWN_FOR / 1000} seconds.`,
      status: 204,
    },
  },
};
