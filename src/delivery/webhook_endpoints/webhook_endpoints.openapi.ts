import { OLD_WEBHOOK_SECRET_LIFETIME } from "../../lifetimes.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { listResponse, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../../organization/api_clients/api_clients.refusals.ts";
import { secretIsNotStored } from "../../organization/idempotency_keys/idempotency_keys.refusals.ts";
import { HOUR } from "../../units.ts";
import * as refusals from "./webhook_endpoints.refusals.ts";
import { webhookEndpointSchema, webhookEndpointWithSecretSchema } from "./webhook_endpoints.responses.ts";

const moved = {
  ...exampleOf(webhookEndpointSchema),
  url: "https://hooks.example.com/v2/visits",
  event_types: ["transcript.finalized", "soap_note.finalized", "call.*"],
  updated_at: story.DOWNLOADED_AT,
};

const urlsNotAllowed = Object.values(refusals.URL_FAULTS).map(refusals.urlNotAllowed);

const onDevelopersMachine =
  "If the service runs on a developer's machine, `url` can also use `http` and any port with a loopback host such as `localhost`.";

export const endpointParameters = {
  id: { description: "The id of the webhook endpoint.", example: story.WEBHOOK_ENDPOINT.id },
};

export const webhookEndpointsReference: Reference = {
  tag: "Webhook endpoints",
  parameters: endpointParameters,
  description: `The URLs that receive the organization's events. An endpoint receives the events that occur after its creation. Only an organization_admin can see and change endpoints. A client with \`expires_at\` can only read and delete endpoints, because what it created or changed would outlast it. An organization can have up to ${MAX_WEBHOOK_ENDPOINTS} endpoints.

One user is responsible for each endpoint: the user of the API client that created it or, later, activated it or changed its URL. When this user leaves the organization or is no longer an organization_admin, the endpoint is deactivated with the \`disabled_reason\` \`creator_removed\`. Another organization_admin can activate it again, and is then responsible for it. Pending deliveries wait until then; events that occur in the meantime can be sent with \`redeliver\`.

Webhooks are signed with the endpoint's secret, as in [Standard Webhooks](https://www.standardwebhooks.com). The secret is shown only when it is created.`,
  external: {
    "GET /webhook_endpoints": {
      operationId: "listWebhookEndpoints",
      summary: "List the webhook endpoints",
      description: "Ordered by id.",
      response: listResponse(
        "webhook_endpoints",
        webhookEndpointSchema,
        "All endpoints of the organization.",
        MAX_WEBHOOK_ENDPOINTS,
      ),
    },
    "POST /webhook_endpoints": {
      operationId: "createWebhookEndpoint",
      summary: "Create a webhook endpoint",
      description: `By default, the endpoint is active and receives all types of events. The response contains its secret: keep it to verify signatures. ${onDevelopersMachine}`,
      request: { fields: { webhook_endpoint: "The endpoint." } },
      response: { schema: webhookEndpointWithSecretSchema },
      errors: [
        secretIsNotStored(refusals.ROTATE_LOST_SECRET),
        ...urlsNotAllowed,
        refusals.tooManyEndpoints(),
        refusals.endpointOutlivesClient(),
        invalidClient(),
      ],
    },
    "GET /webhook_endpoints/:id": {
      operationId: "getWebhookEndpoint",
      summary: "Get a webhook endpoint",
      response: { schema: webhookEndpointSchema },
      errors: [refusals.webhookEndpointNotFound()],
    },
    "PUT /webhook_endpoints/:id": {
      operationId: "updateWebhookEndpoint",
      summary: "Update a webhook endpoint",
      description: `Omitted fields keep their values. Setting \`is_active\` to true also clears \`disabled_reason\`. Activating the endpoint or changing its \`url\` sends pending deliveries at once. If you activate the endpoint or change its \`url\`, your user becomes responsible for it. ${onDevelopersMachine}`,
      response: { schema: webhookEndpointSchema, example: moved },
      errors: [
        refusals.webhookEndpointNotFound(),
        ...urlsNotAllowed,
        refusals.endpointOutlivesClient(),
        invalidClient(),
      ],
    },
    "DELETE /webhook_endpoints/:id": {
      operationId: "deleteWebhookEndpoint",
      summary: "Delete a webhook endpoint",
      description: "Pending deliveries are not sent, and deliveries of the endpoint can no longer be listed.",
      errors: [refusals.webhookEndpointNotFound(), invalidClient()],
    },
    "POST /webhook_endpoints/:id/rotate_secret": {
      operationId: "rotateWebhookSecret",
      summary: "Rotate the secret of a webhook endpoint",
      description: `The old secret stays valid for ${OLD_WEBHOOK_SECRET_LIFETIME / HOUR} hours. Until then, webhooks carry a signature for each secret, so that the receiver can switch over.`,
      status: 200,
      response: {
        schema: webhookEndpointWithSecretSchema,
        example: {
          ...exampleOf(webhookEndpointWithSecretSchema),
          updated_at: story.DOWNLOADED_AT,
          secret: story.NEW_WEBHOOK_SECRET,
        },
      },
      errors: [
        refusals.webhookEndpointNotFound(),
        refusals.rotatedTooOften(),
        refusals.endpointOutlivesClient(),
        invalidClient(),
      ],
    },
  },
};
