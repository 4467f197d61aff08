import * as z from "zod";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { toTimestamp, upToFirstFault } from "../../http/wire.ts";
import { MAX_EVENT_TYPE_NAMES } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { typeOrFamily } from "../events/events.schemas.ts";
import { webhookUrl } from "./webhook_endpoints.fields.ts";
import type {
  webhookEndpointSchema,
  webhookEndpointWithSecretSchema,
} from "./webhook_endpoints.responses.ts";
import type { webhookEndpointColumns } from "./webhook_endpoints.sql.ts";

/**
 * At least one type or family; repeated ones count once. A family stays one, for its later types. All types become null, so
 * that an endpoint that wants all of them gets later ones too.
 */
const eventTypes = lazily(() =>
  upToFirstFault(
    z
      .array(typeOrFamily())
      .min(1, "must name at least one type of event")
      .max(MAX_EVENT_TYPE_NAMES, `must name at most ${MAX_EVENT_TYPE_NAMES} types of events`),
  ).transform((names) =>
    EVENT_TYPES.every((type) => names.includes(type))
      ? null
      : EVENT_TYPE_NAMES.filter((name) => names.includes(name)),
  ),
);

const fields = lazily(() =>
  z.object({ url: webhookUrl(), event_types: eventTypes(), is_active: z.boolean() }),
);

export const createWebhookEndpointBody = lazily(() =>
  z.object({ webhook_endpoint: fields().partial().required({ url: true }) }),
);

export const updateWebhookEndpointBody = lazily(() => z.object({ webhook_endpoint: fields().partial() }));

export type WebhookEndpoint = Row<typeof webhookEndpointColumns>;

/** The secret is in the responses to the creation and to a rotation, and nowhere else. */
export type WebhookEndpointWithSecret = WebhookEndpoint & { secret: string };

export function toWebhookEndpoint(row: WebhookEndpoint): z.input<typeof webhookEndpointSchema> {
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
): z.input<typeof webhookEndpointWithSecretSchema> {
  return { ...toWebhookEndpoint(row), secret: row.secret };
}
