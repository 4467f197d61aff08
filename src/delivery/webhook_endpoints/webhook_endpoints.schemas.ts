import * as z from "zod";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { HTTP_URL, text, toTimestamp, upToFirstFault } from "../../http/wire.ts";
import { MAX_EVENT_TYPE_NAMES, MAX_WEBHOOK_URL_LENGTH } from "../../limits.ts";
import { typeOrFamily } from "../events/events.schemas.ts";
import { ENDPOINT_STAYS } from "./webhook_endpoints.refusals.ts";
import type * as responses from "./webhook_endpoints.responses.ts";
import type { webhookEndpointColumns } from "./webhook_endpoints.sql.ts";

/** Which URLs are allowed depends on where the service runs: see webhook_endpoints.policy.ts. */
export const webhookUrl = () => text(MAX_WEBHOOK_URL_LENGTH).meta({ override: { pattern: HTTP_URL } });

/** A family is kept as a family, for types added later. A list of all types becomes null, for the same reason. */
const eventTypes = () =>
  upToFirstFault(
    z
      .array(typeOrFamily())
      .min(1, "must name at least one type of event")
      .max(MAX_EVENT_TYPE_NAMES, `must name at most ${MAX_EVENT_TYPE_NAMES} types of events`),
  ).transform((names) =>
    EVENT_TYPES.every((type) => names.includes(type))
      ? null
      : EVENT_TYPE_NAMES.filter((name) => names.includes(name)),
  );

const endpointFields = () =>
  z.object({ url: webhookUrl(), event_types: eventTypes(), is_active: z.boolean() });

export const createWebhookEndpointBody = () =>
  z.object({ webhook_endpoint: endpointFields().partial().required({ url: true }) });

export const updateWebhookEndpointBody = () =>
  z.object({ webhook_endpoint: endpointFields().partial() }).register(unchangeable, ENDPOINT_STAYS);

export type WebhookEndpoint = Row<typeof webhookEndpointColumns>;

export type WebhookEndpointWithSecret = WebhookEndpoint & { secret: string };

export function toWebhookEndpoint(row: WebhookEndpoint): z.input<typeof responses.webhookEndpointSchema> {
  return {
    id: row.id,
    url: row.url,
    event_types: row.event_types ?? [...EVENT_TYPES],
    is_active: row.is_active,
    disabled_reason: row.disabled_reason,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

export function toWebhookEndpointWithSecret(
  row: WebhookEndpointWithSecret,
): z.input<typeof responses.webhookEndpointWithSecretSchema> {
  return { ...toWebhookEndpoint(row), secret: row.secret };
}
