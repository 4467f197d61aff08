import * as z from "zod";
import { count, id, name, timestamp } from "../../http/wire.ts";
import { WEBHOOK_RETRY_DELAYS } from "../../lifetimes.ts";
import { MAX_PER_PAGE, WEBHOOK_REDELIVERY_PORTION } from "../../limits.ts";
import { named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { eventDataSchema, eventTypeName } from "../events/events.responses.ts";

/** Receivers may use status codes that HTTP does not define. */
const responseStatus = () => z.int().min(100).max(999).nullable();

const failure = () => name().nullable();

export const redeliverySchema = z.object({
  redelivered_count: count().max(WEBHOOK_REDELIVERY_PORTION).meta({
    description: "The number of events to be sent again. They are sent after this response.",
    example: 2,
  }),
  next_after: id()
    .nullable()
    .describe("The `after` for the next request if there may be more events; otherwise null."),
});

export const pingResultSchema = z.object({
  response_status: responseStatus().meta({
    description: "The status of the endpoint's response; null if there was none.",
    example: 204,
  }),
  error: failure().meta({ description: "Why the webhook failed; null if it arrived.", example: null }),
});

export const deliverySchema = named("WebhookDelivery", "The delivery of an event to an endpoint.", {
  event_id: id().meta({ description: "The id of the event.", example: story.EVENT_ID }),
  event_type: eventTypeName().meta({ description: "The type of the event.", example: "call.ended" }),
  attempts: z
    .int()
    .min(0)
    .max(WEBHOOK_RETRY_DELAYS.length + 1)
    .meta({ description: "How often the event was sent. A redelivery starts again from 0.", example: 1 }),
  last_attempt_at: timestamp().nullable().meta({
    description: "When the event was last sent; null if it has not been sent yet.",
    example: "2026-01-31T09:45:01.000Z",
  }),
  response_status: responseStatus().meta({
    description:
      "The status of the last response; null if there was none. The body of a response is not kept.",
    example: 204,
  }),
  error: failure().meta({
    description:
      "Why the last attempt failed, or why the delivery was given up without another attempt; null if it succeeded or there was no attempt. A text for people, not for programs.",
    example: null,
  }),
  next_attempt_at: timestamp()
    .nullable()
    .describe(
      "When the event is sent next; null if it was delivered, or given up after the last attempt or because the endpoint no longer receives its type. A time in the past means as soon as possible, or when the endpoint is active again.",
    ),
});

export const deliveriesSchema = z.object({
  deliveries: z.array(deliverySchema).max(MAX_PER_PAGE).describe("The next deliveries, newest event first."),
  next_after: id().nullable().meta({
    description:
      "The `after` for the next request: the id of the last event on this page. If the page is empty, the `after` of this request, or null.",
    example: story.EVENT_ID,
  }),
});

export const webhookSchema = z.object({
  id: count().describe("The id of the event: see `GET /events`. It is 0 in a ping."),
  type: eventTypeName().describe("What happened. Receivers must expect unknown types."),
  test: z
    .literal(true)
    .optional()
    .describe(
      "Only in tests of an endpoint, and in pings: the ids are those of an example. Check it before you use them.",
    ),
  timestamp: timestamp().describe(
    "The `created_at` of the event: when the service recorded it. The `webhook-timestamp` header says when it was sent.",
  ),
  data: eventDataSchema.describe("The ids of the resources that the event is about."),
});
