import * as z from "zod";
import { EVENT_TYPES, type EventType } from "../../database/enums.ts";
import * as lifetimes from "../../lifetimes.ts";
import { EVENTS_LOOKED_THROUGH, WEBHOOK_REDELIVERY_PORTION } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference, WebhookReference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { DAY, grouped, HOUR } from "../../units.ts";
import { exampleEvent, idsOfType } from "../events/events.examples.ts";
import { EVENT_MEANINGS } from "../events/events.openapi.ts";
import { eventIds } from "../events/events.responses.ts";
import { endpointParameters } from "../webhook_endpoints/webhook_endpoints.openapi.ts";
import * as refusals from "../webhook_endpoints/webhook_endpoints.refusals.ts";
import { UNREACHABLE } from "./webhook_deliveries.merge.ts";
import * as responses from "./webhook_deliveries.responses.ts";

const inWords = (delay: number) =>
  delay < 60_000 ? `${delay / 1000} s` : delay < HOUR ? `${delay / 60_000} min` : `${delay / HOUR} h`;

const delays = lifetimes.WEBHOOK_RETRY_DELAYS.map(inWords).join(", ");

const NO_IDS = z.strictObject({}).describe("Empty.");

const webhookSchemaOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  responses.webhookSchema.extend({ type: z.literal(type).describe("What happened."), data });

function webhookFor(type: EventType): WebhookReference {
  const { always, ifThereIs } = idsOfType(type);
  const { id, created_at: timestamp, data } = exampleEvent(type);
  const fields = [
    ...always.map((name) => [name, eventIds.shape[name]]),
    ...ifThereIs.map((name) => [name, eventIds.shape[name].optional()]),
  ];
  return {
    operationId: `on${type.replace(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase())}`,
    summary: type,
    description: EVENT_MEANINGS[type],
    schema: webhookSchemaOf(
      type,
      fields.length > 0
        ? z.object(Object.fromEntries(fields)).describe("The ids of the resources that the event is about.")
        : NO_IDS,
    ),
    examples: {
      "The event": { id, type, timestamp, data },
      "A test of the endpoint": { id, type, test: true, timestamp, data },
    },
  };
}

const ping: WebhookReference = {
  operationId: "onPing",
  summary: "ping",
  description:
    "A client has asked to test the endpoint. A ping is not an event: its `id` is always 0, its `data` is empty, and it is not sent again.",
  schema: webhookSchemaOf("ping", NO_IDS),
  example: { id: 0, type: "ping", test: true, timestamp: story.SET_UP_AT, data: {} },
};

export const webhookDeliveriesReference: Reference = {
  tag: "Webhook deliveries",
  parameters: endpointParameters,
  description: `Events are sent to the webhook endpoints of the organization as [Standard Webhooks](https://www.standardwebhooks.com): a POST with the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. Verify the signature with one of its libraries before you trust the content. While a secret is being rotated, there is one signature for each valid secret.

- Every event is sent **at least once**. \`webhook-id\` is the same every time (\`evt_\` followed by the id of the event): use it to drop duplicates.
- Events arrive in order as long as nothing fails.
- A response with a status from 200 to 299 within ${lifetimes.WEBHOOK_TIMEOUT / 1000} seconds counts as a success. After any other result, including a redirect, the delivery is retried after ${delays}. Each pause can be slightly longer, or up to ${lifetimes.MAX_WEBHOOK_RETRY_AFTER / HOUR} hours if \`Retry-After\` asks for it. After the last retry, the delivery is given up.
- Each attempt goes to the \`url\` that the endpoint has at that moment. A delivery whose type the endpoint no longer receives is not sent, and given up. After you change the \`url\` or activate the endpoint, pending deliveries are sent at once, whatever pause the old receiver asked for.
- A 410 response deactivates the endpoint at once, as do ${lifetimes.WEBHOOK_FAILING_FOR / DAY} days of failures without a success: see its \`disabled_reason\`. Pending deliveries are sent when the endpoint is active again. Events that occur while it is inactive are not sent unless you request them with \`redeliver\`.
- Deliveries can be listed for ${lifetimes.EVENTS_KEPT_FOR / DAY} days.`,
  webhooks: {
    ...(Object.fromEntries(EVENT_TYPES.map((type) => [type, webhookFor(type)])) as Record<
      EventType,
      WebhookReference
    >),
    ping,
  },
  external: {
    "GET /webhook_endpoints/:id/deliveries": {
      operationId: "listWebhookDeliveries",
      summary: "List the deliveries of a webhook endpoint",
      description:
        "Newest event first. For older deliveries, pass `next_after` as `after` in the next request, until a page is not full.",
      parameters: {
        after: {
          description:
            "Only deliveries of older events, with a lower id: the `next_after` of the previous response. Without it, the list begins with the newest event.",
          example: 1050,
        },
      },
      response: { schema: responses.deliveriesSchema },
      errors: [refusals.webhookEndpointNotFound()],
    },
    "POST /webhook_endpoints/:id/redeliver": {
      operationId: "redeliverWebhooks",
      summary: "Send events again",
      description: `Sends events of the last ${lifetimes.EVENTS_KEPT_FOR / DAY} days again, including those that were delivered, given up, or missed while the endpoint was inactive. Only events of the endpoint's types that occurred after its creation are sent. One request searches up to ${grouped(EVENTS_LOOKED_THROUGH)} events and sends up to ${grouped(WEBHOOK_REDELIVERY_PORTION)} of them, oldest first; \`next_after\` is null when there are no more events to search.`,
      status: 200,
      request: {
        fields: {
          after:
            "Events with a higher id are sent. Use 0 for all events. To send an event and all later ones, subtract 1 from its id.",
        },
        example: { after: story.EVENT_ID - 1 },
      },
      response: { schema: responses.redeliverySchema },
      errors: [refusals.webhookEndpointNotFound(), refusals.webhooksQuiet(), refusals.endpointNotActive()],
    },
    "POST /webhook_endpoints/:id/ping": {
      operationId: "pingWebhookEndpoint",
      summary: "Test a webhook endpoint",
      description: `Sends a webhook once and returns the result, so the response can take up to ${lifetimes.WEBHOOK_TIMEOUT / 1000} seconds. Without a body, it sends a \`ping\`. With a type, it sends the example of that type in this reference, with \`"test": true\` beside \`type\` and a \`webhook-id\` that begins with \`test_\`. You can also test an inactive endpoint, or send a type that the endpoint does not receive. A test is neither an event nor a delivery: it is not listed and not retried.`,
      status: 200,
      request: {
        fields: {
          type: "The type of event to send: a type, not a family such as `call.*`. Without it, a `ping` is sent.",
        },
        examples: { "An event of one type": { type: "call.ended" }, "A ping": {} },
      },
      response: {
        schema: responses.pingResultSchema,
        examples: {
          "The webhook arrived": exampleOf(responses.pingResultSchema),
          "The endpoint did not respond": { response_status: null, error: UNREACHABLE },
        },
      },
      errors: [refusals.webhookEndpointNotFound(), refusals.webhooksQuiet()],
    },
  },
};
