import * as z from "zod";
import {
  HOUR,
  MAX_OLD_WEBHOOK_SECRETS,
  MAX_WEBHOOK_ENDPOINTS,
  OLD_WEBHOOK_SECRET_LIFETIME,
} from "../../limits.ts";
import type { Fields, Reference } from "../../openapi/operation.ts";
import {
  DOWNLOADED_AT,
  NEW_WEBHOOK_SECRET,
  SET_UP_AT,
  WEBHOOK_ENDPOINT,
  WEBHOOK_SECRET,
} from "../../openapi/story.ts";
import { DISABLED_AS_GONE } from "../webhook_deliveries/webhook_deliveries.leases.ts";
import { webhookEndpointSchema, webhookEndpointWithSecretSchema } from "./webhook_endpoints.responses.ts";

type Endpoint = z.input<typeof webhookEndpointSchema>;

const endpoint: Endpoint = {
  ...WEBHOOK_ENDPOINT,
  event_types: ["call.ended", "transcript.finalized"],
  is_active: true,
  disabled_reason: null,
  created_at: SET_UP_AT,
  updated_at: SET_UP_AT,
};

const disabled: Endpoint = {
  ...endpoint,
  id: 4,
  url: "https://old.example.com/visits",
  is_active: false,
  disabled_reason: DISABLED_AS_GONE,
  updated_at: "2026-01-12T10:30:00.000Z",
};

const moved: Endpoint = {
  ...endpoint,
  url: "https://hooks.example.com/v2/visits",
  event_types: ["call.ended", "transcript.finalized", "soap_note.finalized"],
  updated_at: DOWNLOADED_AT,
};

const fields: Fields = {
  webhook_endpoint: "The endpoint.",
  "webhook_endpoint.url":
    "Where to send events: an `https` URL with a public host name, at port 443. Spaces around it are removed. Several endpoints can have the same URL.",
  "webhook_endpoint.event_types":
    "The types of events to send. Repeated ones count once. All of them means also those that are added later.",
  "webhook_endpoint.is_active": "Whether to send events.",
};

const refusedUrls = [
  "must be an https URL such as https://hooks.example.com/visits",
  "must begin with https://",
  "must use port 443",
  "must have a host name, not an IP address",
  "must have a public host name: with a dot, and not under .local, .internal or .localhost",
  "must not contain a user name or a password",
  "must not lead to this service",
].map((reason) => `webhook_endpoint.url: ${reason}`);

const onDevelopersMachine =
  "Where the service runs on a developer's machine, `url` can also be `http`, and have another port, with a loopback host such as `localhost`.";

const forAdmins = { 404: "The endpoint does not exist, or the client is no organization_admin." };

const noEndpoint = { 404: ["Webhook endpoint not found"] };

const byId = { id: { description: "The id of the webhook endpoint.", example: WEBHOOK_ENDPOINT.id } };

export const webhookEndpointsReference: Reference = {
  tag: "Webhook endpoints",
  description: `The URLs to which the organization wants its events sent. An endpoint gets the events that come after it was created. Only an organization_admin can see and change endpoints. An organization has at most ${MAX_WEBHOOK_ENDPOINTS}.

What is sent is signed with the secret of the endpoint, as in [Standard Webhooks](https://www.standardwebhooks.com). The secret is shown when it is made, and never again.`,
  external: {
    "GET /webhook_endpoints": {
      operationId: "listWebhookEndpoints",
      summary: "List the webhook endpoints",
      description: "Ordered by id.",
      status: 200,
      response: {
        schema: z.object({
          webhook_endpoints: z
            .array(webhookEndpointSchema)
            .max(MAX_WEBHOOK_ENDPOINTS)
            .describe("All endpoints of the organization."),
        }),
        examples: {
          "One that the service has disabled, and an active one": { webhook_endpoints: [disabled, endpoint] },
          "No endpoint yet": { webhook_endpoints: [] },
        },
      },
      refusals: { 404: "The client is no organization_admin." },
      errors: noEndpoint,
    },
    "POST /webhook_endpoints": {
      operationId: "createWebhookEndpoint",
      summary: "Create a webhook endpoint",
      description: `The response has the secret of the endpoint: keep it for the verification of signatures. ${onDevelopersMachine}`,
      status: 201,
      request: {
        fields: {
          ...fields,
          "webhook_endpoint.event_types": `${fields["webhook_endpoint.event_types"]} Without it, all types are sent.`,
          "webhook_endpoint.is_active":
            "Whether to send events. An endpoint that is not active is not sent anything, but can be tried with `ping`.",
        },
        examples: {
          "For two types of events": {
            webhook_endpoint: { url: endpoint.url, event_types: endpoint.event_types },
          },
          "For all types, and not yet active": {
            webhook_endpoint: { url: endpoint.url, is_active: false },
          },
        },
      },
      response: {
        schema: webhookEndpointWithSecretSchema,
        example: { ...endpoint, secret: WEBHOOK_SECRET },
      },
      refusals: { 404: "The client is no organization_admin." },
      errors: {
        ...noEndpoint,
        409: [
          "The request with this Idempotency-Key was carried out. The endpoint exists, but its secret is shown only once: if you do not have it, find the endpoint in the list and rotate its secret",
        ],
        422: [
          ...refusedUrls,
          `The organization has ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints, which is the most that it can have: delete one first`,
        ],
      },
    },
    "GET /webhook_endpoints/:id": {
      operationId: "getWebhookEndpoint",
      summary: "Get a webhook endpoint",
      status: 200,
      parameters: byId,
      response: {
        schema: webhookEndpointSchema,
        examples: { "An active endpoint": endpoint, "One that the service has disabled": disabled },
      },
      refusals: forAdmins,
      errors: noEndpoint,
    },
    "PUT /webhook_endpoints/:id": {
      operationId: "updateWebhookEndpoint",
      summary: "Update a webhook endpoint",
      description: `Fields that are left out keep their values. ${onDevelopersMachine}`,
      status: 200,
      parameters: byId,
      request: {
        fields: {
          ...fields,
          "webhook_endpoint.url": `${fields["webhook_endpoint.url"]} Deliveries that are pending go to the new URL.`,
          "webhook_endpoint.event_types": `${fields["webhook_endpoint.event_types"]} Deliveries that are pending are sent whatever their type.`,
          "webhook_endpoint.is_active":
            "Whether to send events. true also clears the `disabled_reason`, and deliveries that are pending are sent. Events that come while it is false are not sent later, unless you ask for them with `redeliver`.",
        },
        examples: {
          "Another URL, and one more type": {
            webhook_endpoint: { url: moved.url, event_types: moved.event_types },
          },
          "Send events again": { webhook_endpoint: { is_active: true } },
        },
      },
      response: { schema: webhookEndpointSchema, example: moved },
      refusals: forAdmins,
      errors: { ...noEndpoint, 422: refusedUrls },
    },
    "DELETE /webhook_endpoints/:id": {
      operationId: "deleteWebhookEndpoint",
      summary: "Delete a webhook endpoint",
      description: "Deliveries that are pending are not sent, and its deliveries can no longer be listed.",
      status: 204,
      parameters: byId,
      refusals: forAdmins,
      errors: noEndpoint,
    },
    "POST /webhook_endpoints/:id/rotate_secret": {
      operationId: "rotateWebhookSecret",
      summary: "Give a webhook endpoint a new secret",
      description: `The old secret stays valid for ${OLD_WEBHOOK_SECRET_LIFETIME / HOUR} hours. Until then, what is sent has a signature for each, so that the receiver can change over.`,
      status: 200,
      parameters: byId,
      response: {
        schema: webhookEndpointWithSecretSchema,
        example: { ...endpoint, updated_at: DOWNLOADED_AT, secret: NEW_WEBHOOK_SECRET },
      },
      refusals: forAdmins,
      errors: {
        ...noEndpoint,
        422: [
          `The secret was rotated ${MAX_OLD_WEBHOOK_SECRETS} times within a day: wait until the first of these old secrets has expired`,
        ],
      },
    },
  },
};
