import * as z from "zod";
import { OLD_WEBHOOK_SECRET_LIFETIME } from "../../lifetimes.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { FOR_ADMINISTRATORS, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import { invalidClient } from "../api_clients/api_clients.refusals.ts";
import { secretIsNotStored } from "../idempotency_keys/idempotency_keys.refusals.ts";
import {
  ROTATE_LOST_SECRET,
  rotatedTooOften,
  tooManyEndpoints,
  URL_FAULTS,
  urlNotAllowed,
  webhookEndpointNotFound,
} from "./webhook_endpoints.refusals.ts";
import { webhookEndpointSchema, webhookEndpointWithSecretSchema } from "./webhook_endpoints.responses.ts";
import { createWebhookEndpointBody } from "./webhook_endpoints.schemas.ts";

const endpoint = exampleOf(webhookEndpointSchema);

const created = exampleOf(webhookEndpointWithSecretSchema);

const disabled: typeof endpoint = {
  ...endpoint,
  id: 4,
  url: "https://old.example.com/visits",
  is_active: false,
  disabled_reason: "gone",
  updated_at: "2026-01-12T10:30:00.000Z",
};

const orphaned: typeof endpoint = {
  ...endpoint,
  is_active: false,
  disabled_reason: "creator_removed",
  updated_at: "2026-01-12T10:30:00.000Z",
};

const moved: typeof endpoint = {
  ...endpoint,
  url: "https://hooks.example.com/v2/visits",
  event_types: ["transcript.finalized", "soap_note.finalized", "call.*"],
  updated_at: story.DOWNLOADED_AT,
};

const urlsNotAllowed = Object.values(URL_FAULTS).map(urlNotAllowed);

const onDevelopersMachine =
  "Where the service runs on a developer's machine, `url` can also be `http`, and have another port, with a loopback host such as `localhost`.";

/** The operations on one endpoint, those of its deliveries too. */
export const ofEndpoint = {
  parameters: { id: { description: "The id of the webhook endpoint.", example: story.WEBHOOK_ENDPOINT.id } },
  refusals: { 404: "The endpoint does not exist, or the client does not act as an organization_admin." },
};

export const webhookEndpointsReference: Reference = {
  tag: "Webhook endpoints",
  description: `The URLs to which the organization wants its events sent. An endpoint gets the events that come after it was created. Only an organization_admin can see and change endpoints. An organization has at most ${MAX_WEBHOOK_ENDPOINTS}.

One user answers for each endpoint: the user of the API client that created it or, later, turned it on or gave it another URL. When this user leaves the organization, or is no longer an organization_admin, the endpoint is turned off, with \`creator_removed\` as its \`disabled_reason\`. Another organization_admin can turn it on again, and then answers for it. Pending deliveries wait for that; events that come meanwhile can be sent with \`redeliver\`.

What is sent is signed with the secret of the endpoint, as in [Standard Webhooks](https://www.standardwebhooks.com). The secret is shown when it is made, and never again.`,
  external: {
    "GET /webhook_endpoints": {
      operationId: "listWebhookEndpoints",
      summary: "List the webhook endpoints",
      description: "Ordered by id.",
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
      refusals: FOR_ADMINISTRATORS,
      errors: [webhookEndpointNotFound()],
    },
    "POST /webhook_endpoints": {
      operationId: "createWebhookEndpoint",
      summary: "Create a webhook endpoint",
      description: `It is active, and gets events of all types, unless you say otherwise. The response has the secret of the endpoint: keep it for the verification of signatures. ${onDevelopersMachine}`,
      request: {
        fields: { webhook_endpoint: "The endpoint." },
        examples: {
          "For two types of events": exampleBody(createWebhookEndpointBody(), endpoint),
          "For all types, and not yet active": { webhook_endpoint: { url: endpoint.url, is_active: false } },
        },
      },
      response: { schema: webhookEndpointWithSecretSchema, example: created },
      refusals: FOR_ADMINISTRATORS,
      errors: [
        webhookEndpointNotFound(),
        secretIsNotStored(ROTATE_LOST_SECRET),
        ...urlsNotAllowed,
        tooManyEndpoints(),
        invalidClient(),
      ],
    },
    "GET /webhook_endpoints/:id": {
      operationId: "getWebhookEndpoint",
      summary: "Get a webhook endpoint",
      ...ofEndpoint,
      response: {
        schema: webhookEndpointSchema,
        examples: {
          "An active endpoint": endpoint,
          "One that the service has disabled": disabled,
          "One whose creator has left": orphaned,
        },
      },
      errors: [webhookEndpointNotFound()],
    },
    "PUT /webhook_endpoints/:id": {
      operationId: "updateWebhookEndpoint",
      summary: "Update a webhook endpoint",
      description: `Fields that are left out keep their values. \`is_active\` true also clears the \`disabled_reason\`, and pending deliveries are sent. If it was false before, or \`url\` is another one, your user answers for the endpoint from then on. ${onDevelopersMachine}`,
      ...ofEndpoint,
      request: {
        examples: {
          "Another URL, and all types of a family": {
            webhook_endpoint: { url: moved.url, event_types: moved.event_types },
          },
          "Send events again": { webhook_endpoint: { is_active: true } },
        },
      },
      response: { schema: webhookEndpointSchema, example: moved },
      errors: [webhookEndpointNotFound(), ...urlsNotAllowed, invalidClient()],
    },
    "DELETE /webhook_endpoints/:id": {
      operationId: "deleteWebhookEndpoint",
      summary: "Delete a webhook endpoint",
      description: "Deliveries that are pending are not sent, and its deliveries can no longer be listed.",
      ...ofEndpoint,
      errors: [webhookEndpointNotFound(), invalidClient()],
    },
    "POST /webhook_endpoints/:id/rotate_secret": {
      operationId: "rotateWebhookSecret",
      summary: "Give a webhook endpoint a new secret",
      description: `The old secret stays valid for ${OLD_WEBHOOK_SECRET_LIFETIME / HOUR} hours. Until then, what is sent has a signature for each, so that the receiver can change over.`,
      status: 200,
      ...ofEndpoint,
      response: {
        schema: webhookEndpointWithSecretSchema,
        example: { ...created, updated_at: story.DOWNLOADED_AT, secret: story.NEW_WEBHOOK_SECRET },
      },
      errors: [webhookEndpointNotFound(), rotatedTooOften(), invalidClient()],
    },
  },
};
