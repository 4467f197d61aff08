import * as z from "zod";
import {
  HOUR,
  MAX_OLD_WEBHOOK_SECRETS,
  MAX_WEBHOOK_ENDPOINTS,
  OLD_WEBHOOK_SECRET_LIFETIME,
} from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { webhookEndpointSchema, webhookEndpointWithSecretSchema } from "./webhook_endpoints.responses.ts";

const endpoint: z.input<typeof webhookEndpointSchema> = {
  id: 6,
  url: "https://hooks.example.com/visits",
  event_types: ["call.ended", "transcript.finalized"],
  is_active: true,
  disabled_reason: null,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

const endpointWithSecret = { ...endpoint, secret: "whsec_ZXhhbXBsZS1vZi1hLXNlY3JldC10aGF0LWlzLTMyYnk=" };

const oldSecrets = `Each old secret stays valid for ${OLD_WEBHOOK_SECRET_LIFETIME / HOUR} hours`;

const fields = {
  id: "The id of the endpoint.",
  url: "Where events are sent.",
  event_types: "The types of events that are sent: see `GET /events`.",
  is_active: "Whether events are sent.",
  disabled_reason:
    "Why the service has stopped sending. null if the endpoint is active, or if a client made it inactive.",
  created_at: "When the endpoint was created.",
  updated_at: "When the endpoint last changed.",
};

const urlRefused =
  "`url` must begin with `https://`, use port 443 and a public host name, and contain no user name or password. IP addresses, names without a dot, names under `.local`, `.internal` or `.localhost`, and this service itself are refused. Where the service runs on a developer's machine, http and other ports of a loopback host are allowed too.";

const forAdmins = "The endpoint does not exist, or the client is no organization_admin.";

export const webhookEndpointsReference: Reference = {
  tag: "Webhook endpoints",
  description: `The URLs to which the organization wants its events sent. An endpoint gets the events that come after it was created. Only an organization_admin can see and change endpoints. An organization has at most ${MAX_WEBHOOK_ENDPOINTS}.

What is sent is signed with the secret of the endpoint, as in [Standard Webhooks](https://www.standardwebhooks.com). The secret is shown when it is made, and never again.`,
  schemas: {
    WebhookEndpoint: {
      schema: webhookEndpointSchema,
      description: "A URL to which events are sent.",
      fields,
    },
    WebhookEndpointWithSecret: {
      schema: webhookEndpointWithSecretSchema,
      description: "A URL to which events are sent, with its new secret.",
      fields: {
        ...fields,
        secret:
          "The key of the signatures: `whsec_` and 32 bytes in base64. It is shown only in this response.",
      },
    },
  },
  external: {
    "GET /webhook_endpoints": {
      operationId: "listWebhookEndpoints",
      summary: "List the webhook endpoints",
      description: "Ordered by id.",
      status: 200,
      response: {
        schema: z.object({ webhook_endpoints: z.array(webhookEndpointSchema) }),
        example: { webhook_endpoints: [endpoint] },
      },
      refusals: { 404: "The client is no organization_admin." },
    },
    "POST /webhook_endpoints": {
      operationId: "createWebhookEndpoint",
      summary: "Create a webhook endpoint",
      description: `Without \`event_types\`, or with all of them, events of all types are sent, also of types that are added later. The endpoint is active, unless \`is_active\` is false. ${urlRefused}`,
      status: 201,
      request: {
        fields: {},
        example: {
          webhook_endpoint: {
            url: "https://hooks.example.com/visits",
            event_types: ["call.ended", "transcript.finalized"],
          },
        },
      },
      response: { schema: webhookEndpointWithSecretSchema, example: endpointWithSecret },
      refusals: {
        404: "The client is no organization_admin.",
        409: "A request with this `Idempotency-Key` has created the endpoint. Its secret is shown only once: find the endpoint in the list and rotate its secret.",
        422: `The URL is not allowed, or the organization has ${MAX_WEBHOOK_ENDPOINTS} endpoints.`,
      },
    },
    "GET /webhook_endpoints/:id": {
      operationId: "getWebhookEndpoint",
      summary: "Get a webhook endpoint",
      status: 200,
      response: { schema: webhookEndpointSchema, example: endpoint },
      refusals: { 404: forAdmins },
    },
    "PUT /webhook_endpoints/:id": {
      operationId: "updateWebhookEndpoint",
      summary: "Update a webhook endpoint",
      description: `Fields that are left out keep their values. \`is_active\` true also clears the \`disabled_reason\`. ${urlRefused}`,
      status: 200,
      request: { fields: {}, example: { webhook_endpoint: { is_active: true } } },
      response: { schema: webhookEndpointSchema, example: endpoint },
      refusals: { 404: forAdmins, 422: "The URL is not allowed." },
    },
    "DELETE /webhook_endpoints/:id": {
      operationId: "deleteWebhookEndpoint",
      summary: "Delete a webhook endpoint",
      status: 204,
      refusals: { 404: forAdmins },
    },
    "POST /webhook_endpoints/:id/rotate_secret": {
      operationId: "rotateWebhookSecret",
      summary: "Give a webhook endpoint a new secret",
      description: `${oldSecrets}: until then, what is sent has a signature for each, so that the receiver can change over.`,
      status: 200,
      response: { schema: webhookEndpointWithSecretSchema, example: endpointWithSecret },
      refusals: {
        404: forAdmins,
        422: `${MAX_OLD_WEBHOOK_SECRETS} old secrets are still valid.`,
      },
    },
  },
};
