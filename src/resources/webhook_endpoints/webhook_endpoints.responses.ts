import * as z from "zod";
import { EVENT_TYPES } from "../../database/enums.ts";
import { MAX_WEBHOOK_URL_LENGTH } from "../../limits.ts";
import { id, line, timestamp } from "../../openapi/shapes.ts";
import { eventTypeName } from "../events/events.responses.ts";

export const webhookEndpointSchema = z
  .object({
    id: id().describe("The id of the endpoint."),
    // As it was sent: it is a URL, but not always written as RFC 3986 wants it.
    url: z
      .string()
      .max(MAX_WEBHOOK_URL_LENGTH)
      .regex(/^[Hh][Tt][Tt][Pp][Ss]?:/)
      .describe("Where events are sent."),
    event_types: z
      .array(eventTypeName())
      .min(1)
      .max(EVENT_TYPES.length)
      .describe(
        "The types of events that are sent: see `GET /events`. An endpoint for all types has later types too.",
      ),
    is_active: z.boolean().describe("Whether events are sent."),
    disabled_reason: line()
      .nullable()
      .describe(
        "Why the service has stopped sending; null if the endpoint is active, or if a client made it inactive.",
      ),
    created_at: timestamp().describe("When the endpoint was created."),
    updated_at: timestamp().describe("When the endpoint last changed."),
  })
  .meta({ id: "WebhookEndpoint", description: "A URL to which events are sent." });

export const webhookEndpointWithSecretSchema = webhookEndpointSchema
  .extend({
    secret: z
      .string()
      .length(50)
      .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .describe(
        "The key of the signatures: `whsec_` and 32 bytes in base64, as libraries for Standard Webhooks take it. It is shown only in this response.",
      ),
  })
  .meta({
    id: "WebhookEndpointWithSecret",
    description: "A URL to which events are sent, with its new secret.",
  });
