import * as z from "zod";
import { DISABLED_REASONS, EVENT_TYPE_NAMES } from "../../database/enums.ts";
import { id, timestamp } from "../../http/wire.ts";
import { WEBHOOK_FAILING_FOR } from "../../lifetimes.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { DAY } from "../../units.ts";
import { webhookUrl } from "./webhook_endpoints.schemas.ts";

export const webhookEndpointSchema = named("WebhookEndpoint", "A URL that receives events.", {
  id: id().meta({ description: "The id of the endpoint.", example: story.WEBHOOK_ENDPOINT.id }),
  url: webhookUrl().meta({
    description:
      "Where events are sent: an `https` URL with a public host name, at port 443. Spaces around it are removed. Several endpoints can have the same URL. After a change, pending deliveries go to the new URL.",
    example: story.WEBHOOK_ENDPOINT.url,
  }),
  event_types: z
    .array(
      z
        .string()
        .max(100)
        .regex(/^[a-z_]+\.([a-z_]+|\*)$/),
    )
    .min(1)
    .max(EVENT_TYPE_NAMES.length)
    .meta({
      description:
        "The types of events to send: see `GET /events`. A family such as `call.*` stands for all types with that prefix, including types added later. Duplicates count once. An endpoint for all types also receives types added later. After a change, pending deliveries are sent whatever their type.",
      example: ["call.ended", "transcript.finalized"],
    }),
  is_active: z.boolean().meta({
    description:
      "Whether events are sent. Events that occur while this is false are not sent later unless you request them with `redeliver`. You can test an inactive endpoint with `ping`.",
    example: true,
  }),
  disabled_reason: z
    .enum(DISABLED_REASONS)
    .nullable()
    .describe(
      `Why the service has stopped sending; null if the endpoint is active, or if a client deactivated it. \`gone\`: the endpoint answered 410. \`failing\`: no delivery succeeded for ${WEBHOOK_FAILING_FOR / DAY} days. \`creator_removed\`: the user responsible for the endpoint has left the organization, or is no longer an organization_admin. \`restored\`: the service was restored from a backup, and its operator has not resumed it yet. When the operator resumes it, an endpoint that was active becomes active again, unless a client sets \`is_active\` first.`,
    ),
  created_at: timestamp().meta({ description: "When the endpoint was created.", example: story.SET_UP_AT }),
  updated_at: field(timestamp(), "When the endpoint last changed.", story.SET_UP_AT),
});

export const webhookEndpointWithSecretSchema = webhookEndpointSchema
  .extend({
    secret: z
      .string()
      .length(50)
      .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .meta({
        description:
          "The signing key: `whsec_` followed by 32 bytes in base64, as Standard Webhooks libraries expect it. It is shown only in this response.",
        example: story.WEBHOOK_SECRET,
      }),
  })
  .meta({ id: "WebhookEndpointWithSecret", description: "A URL that receives events, with its new secret." });
