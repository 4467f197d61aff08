import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { OLD_WEBHOOK_SECRET_LIFETIME } from "../../lifetimes.ts";
import { MAX_OLD_WEBHOOK_SECRETS } from "../../limits.ts";
import { rotatedTooOften, tooManyEndpoints } from "./webhook_endpoints.refusals.ts";
import type {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
  WebhookEndpoint,
} from "./webhook_endpoints.schemas.ts";
import type { webhookEndpoints } from "./webhook_endpoints.table.ts";

type EndpointRow = typeof webhookEndpoints.$inferSelect;

const NEW_ENDPOINT = {
  event_types: null,
  is_active: true,
  disabled_reason: null,
  previous_secrets: [],
  due_at: null,
  lease_until: null,
  failing_since: null,
  repaired_at: null,
  message_at: null,
};

export function newEndpoint(
  {
    isFull,
    ...known
  }: Pick<EndpointRow, "organization_id" | "secret" | "service_url" | "created_by_user_id"> & {
    isFull: boolean;
  },
  input: z.output<ReturnType<typeof createWebhookEndpointBody>>["webhook_endpoint"],
  now: number,
): NewRow<typeof webhookEndpoints> {
  if (isFull) throw tooManyEndpoints();
  return { ...NEW_ENDPOINT, ...withoutUndefined(input), ...known, created_at: now, updated_at: now };
}

/**
 * Deactivating a restored endpoint clears its `disabled_reason` too, because a client has then decided. The user who activates
 * an endpoint or changes its URL becomes responsible for it, and its pending deliveries are due at once.
 *
 * @param service_url the service's URL in this request
 * @param user_id the user who makes the change
 */
export function mergeEndpoint(
  { endpoint, service_url, user_id }: { endpoint: WebhookEndpoint; service_url: string; user_id: number },
  input: z.output<ReturnType<typeof updateWebhookEndpointBody>>["webhook_endpoint"],
  now: number,
): WebhookEndpoint {
  const { url, is_active } = input;
  const isDecided = is_active || (is_active === false && endpoint.disabled_reason === "restored");
  const isTurnedOn = is_active === true && !endpoint.is_active;
  const isRepaired = isTurnedOn || (url !== undefined && url !== endpoint.url);
  return {
    ...endpoint,
    ...withoutUndefined(input),
    created_by_user_id: isRepaired ? user_id : endpoint.created_by_user_id,
    service_url: url === undefined ? endpoint.service_url : service_url,
    disabled_reason: isDecided ? null : endpoint.disabled_reason,
    // Earlier failures say nothing about an endpoint that was repaired.
    ...(isRepaired && { failing_since: null, repaired_at: now, due_at: now }),
    // Ends the pause after a failure. Without one, the lease is that of a lane that is sending.
    ...(isRepaired && endpoint.failing_since !== null && { lease_until: null }),
    updated_at: now,
  };
}

type OldSecrets = EndpointRow["previous_secrets"];

export const validSecrets = (secrets: OldSecrets, now: number): OldSecrets =>
  secrets.filter(({ expires_at }) => expires_at > now);

/**
 * Every old secret signs for a day: if a rotation is repeated because its response was lost, the receiver knows only the secret
 * from before both.
 *
 * @throws ApiError 422 if too many are still signing
 */
export function rotateSecret<Row extends Pick<EndpointRow, "secret" | "previous_secrets">>(
  endpoint: Row,
  secret: string,
  now: number,
): Row {
  const old = validSecrets(endpoint.previous_secrets, now);
  if (old.length >= MAX_OLD_WEBHOOK_SECRETS) throw rotatedTooOften();
  const replaced = { secret: endpoint.secret, expires_at: now + OLD_WEBHOOK_SECRET_LIFETIME };
  return { ...endpoint, secret, previous_secrets: [...old, replaced], updated_at: now };
}
