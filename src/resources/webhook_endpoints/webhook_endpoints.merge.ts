import type * as z from "zod";
import type { webhookEndpoints } from "../../database/schema.ts";
import { withoutUndefined } from "../../http/wire.ts";
import { OLD_WEBHOOK_SECRET_LIFETIME } from "../../lifetimes.ts";
import { MAX_OLD_WEBHOOK_SECRETS } from "../../limits.ts";
import { rotatedTooOften, tooManyEndpoints } from "./webhook_endpoints.refusals.ts";
import type {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
  WebhookEndpoint,
} from "./webhook_endpoints.schemas.ts";

type EndpointRow = typeof webhookEndpoints.$inferSelect;

/** @throws ApiError 422 if the organization has all the endpoints that it can have */
export function newEndpoint(
  {
    isFull,
    ...known
  }: Pick<EndpointRow, "organization_id" | "secret" | "service_url" | "created_by_user_id"> & {
    isFull: boolean;
  },
  input: z.output<ReturnType<typeof createWebhookEndpointBody>>["webhook_endpoint"],
  now: number,
): typeof webhookEndpoints.$inferInsert {
  if (isFull) throw tooManyEndpoints();
  return { is_active: true, ...withoutUndefined(input), ...known, created_at: now, updated_at: now };
}

/**
 * A field left out stays. An endpoint that is activated is no longer disabled for any reason. One that was restored is
 * not, either, once a client says that it is to be off.
 * The user who turns it on, or says where events go, answers for it from then on.
 *
 * @param service_url where the service was reached by this request
 * @param user_id who changes it
 */
export function mergeEndpoint(
  { endpoint, service_url, user_id }: { endpoint: WebhookEndpoint; service_url: string; user_id: number },
  input: z.output<ReturnType<typeof updateWebhookEndpointBody>>["webhook_endpoint"],
  now: number,
): WebhookEndpoint {
  const { url, is_active } = input;
  const isDecided = is_active || (is_active === false && endpoint.disabled_reason === "restored");
  const isTurnedOn = is_active === true && !endpoint.is_active;
  const isMoved = url !== undefined && url !== endpoint.url;
  return {
    ...endpoint,
    ...withoutUndefined(input),
    created_by_user_id: isTurnedOn || isMoved ? user_id : endpoint.created_by_user_id,
    service_url: url === undefined ? endpoint.service_url : service_url,
    disabled_reason: isDecided ? null : endpoint.disabled_reason,
    // What failed before says nothing of an endpoint that was repaired.
    failing_since: is_active || url !== undefined ? null : endpoint.failing_since,
    updated_at: now,
  };
}

type OldSecrets = EndpointRow["previous_secrets"];

/** The old secrets that still sign. */
export const validSecrets = (secrets: OldSecrets, now: number): OldSecrets =>
  secrets.filter(({ expires_at }) => expires_at > now);

/**
 * Each old secret goes on signing for a day, not only the last: a rotation may be repeated because its response was lost,
 * and then the receiver knows only the secret before both.
 *
 * @throws ApiError 422 if as many old secrets sign as can
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
