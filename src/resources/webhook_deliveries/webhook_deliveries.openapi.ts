import * as z from "zod";
import { EVENT_TYPES, type EventType } from "../../database/enums.ts";
import {
  DAY,
  EVENTS_KEPT_FOR,
  HOUR,
  WEBHOOK_FAILING_FOR,
  WEBHOOK_REDELIVERY_PORTION,
  WEBHOOK_RETRY_DELAYS,
  WEBHOOK_TIMEOUT,
} from "../../limits.ts";
import type { Reference, WebhookReference } from "../../openapi/operation.ts";
import { EVENT_ID_MEANINGS, TYPES } from "../events/events.openapi.ts";
import { eventDataSchema } from "../events/events.responses.ts";
import {
  deliveriesSchema,
  deliverySchema,
  pingResultSchema,
  redeliverySchema,
  webhookSchema,
} from "./webhook_deliveries.responses.ts";

const inWords = (delay: number) =>
  delay < 60_000 ? `${delay / 1000} s` : delay < HOUR ? `${delay / 60_000} min` : `${delay / HOUR} h`;

const delays = WEBHOOK_RETRY_DELAYS.map(inWords).join(", ");

const delivered: z.input<typeof deliverySchema> = {
  event_id: 1042,
  event_type: "call.ended",
  attempts: 1,
  last_attempt_at: "2026-01-31T09:31:01.000Z",
  response_status: 204,
  error: null,
  next_attempt_at: null,
};

const failed: z.input<typeof deliverySchema> = {
  event_id: 1041,
  event_type: "call.started",
  attempts: 2,
  last_attempt_at: "2026-01-31T09:30:06.000Z",
  response_status: 500,
  error: "The response has no status of success (200 to 299)",
  next_attempt_at: "2026-01-31T09:35:20.000Z",
};

const forAdmins = "The endpoint does not exist, or the client is no organization_admin.";

const EXAMPLE_IDS: Record<string, number> = { organization_user_id: 12, call_id: 300 };

const typed = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  webhookSchema.extend({
    id: webhookSchema.shape.id.meta({ description: "The id of the event: see `GET /events`." }),
    type: z.literal(type),
    timestamp: webhookSchema.shape.timestamp.meta({ description: "When it happened." }),
    data,
  });

/** The ids that an event of the type has, and no others. */
function dataOf(type: EventType) {
  const ids = TYPES[type][1].split(", ") as (keyof typeof eventDataSchema.shape)[];
  const fields = ids.map((name) => [
    name,
    eventDataSchema.shape[name].unwrap().meta({ description: EVENT_ID_MEANINGS[name] }),
  ]);
  const example = Object.fromEntries(ids.map((name, n) => [name, EXAMPLE_IDS[name] ?? 40 + n]));
  return { schema: z.object(Object.fromEntries(fields)), example };
}

function webhookFor(type: EventType): WebhookReference {
  const { schema, example } = dataOf(type);
  return {
    operationId: `on_${type.replace(".", "_")}`,
    summary: type,
    description: TYPES[type][0],
    schema: typed(type, schema),
    example: { id: 1042, type, timestamp: "2026-01-31T09:31:00.000Z", data: example },
  };
}

const ping: WebhookReference = {
  operationId: "on_ping",
  summary: "ping",
  description: "A client has asked for it, to try the endpoint. It is no event: its `id` is always 0.",
  schema: typed("ping", z.object({})),
  example: { id: 0, type: "ping", timestamp: "2026-01-31T09:31:00.000Z", data: {} },
};

export const webhookDeliveriesReference: Reference = {
  tag: "Webhook deliveries",
  description: `Events are sent to the webhook endpoints of the organization as [Standard Webhooks](https://www.standardwebhooks.com): a POST with the headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\`. Verify the signature with one of the libraries for it before you believe the content. During the rotation of a secret there is a signature for each valid secret.

- Every event is sent **at least once**. \`webhook-id\` is the same every time (\`evt_\` and the id of the event): use it to drop duplicates.
- Events come in order as long as nothing fails.
- A response with a status from 200 to 299 within ${WEBHOOK_TIMEOUT / 1000} seconds is a success. Everything else, redirects included, is tried again after ${delays}, or later if \`Retry-After\` asks for it. Then the delivery is given up.
- 410 makes the endpoint inactive at once, and ${WEBHOOK_FAILING_FOR / DAY} days of failures without a success do too: see its \`disabled_reason\`. Deliveries that were pending then are sent when it is active again. Events that come while it is not active are not sent, unless you ask for them with \`redeliver\`.
- Deliveries are listed for ${EVENTS_KEPT_FOR / DAY} days.`,
  schemas: {
    WebhookDelivery: {
      schema: deliverySchema,
      description: "What became of an event at an endpoint.",
      fields: {
        event_id: "The id of the event.",
        event_type: "The type of the event.",
        attempts: "How often it was sent. A redelivery counts from 0 again.",
        last_attempt_at: "When it was last sent, or null.",
        response_status: "The status of the last response, or null if there was none.",
        error: "Why the last attempt failed. null if it did not.",
        next_attempt_at:
          "When it is sent next. null if it was delivered, or given up after the last attempt.",
      },
    },
  },
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
        "Newest first. Ask for those after `next_after` of the response before: they are older. If there are none, `next_after` is the `after` of the request, or null.",
      status: 200,
      response: {
        schema: deliveriesSchema,
        example: { deliveries: [delivered, failed], next_after: 1041 },
      },
      refusals: { 404: forAdmins },
    },
    "POST /webhook_endpoints/:id/redeliver": {
      operationId: "redeliverWebhooks",
      summary: "Send events again",
      description: `Sends the events with a higher id than \`after\` again, also those that were delivered or given up, and those that came while the endpoint was not active. They are of the types that the endpoint wants, and came after it was created. One request sends up to ${WEBHOOK_REDELIVERY_PORTION} events. If there are more, \`next_after\` is the \`after\` of the next request; otherwise it is null.`,
      status: 200,
      request: { fields: {}, example: { after: 1040 } },
      response: { schema: redeliverySchema, example: { redelivered_count: 2, next_after: null } },
      refusals: { 404: forAdmins, 422: "The endpoint is not active." },
    },
    "POST /webhook_endpoints/:id/ping": {
      operationId: "pingWebhookEndpoint",
      summary: "Send a ping",
      description: `Sends a webhook of the type \`ping\` once, and responds with what came of it: \`error\` is null if it succeeded. This takes as long as the receiver, up to ${WEBHOOK_TIMEOUT / 1000} seconds. The endpoint need not be active. A ping is not in the list of deliveries.`,
      status: 200,
      response: { schema: pingResultSchema, example: { response_status: 204, error: null } },
      refusals: { 404: forAdmins },
    },
  },
};
