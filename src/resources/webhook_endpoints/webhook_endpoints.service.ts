import { sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { namedCreation } from "../../database/creations.ts";
import { EVENT_TYPES, type EventType } from "../../database/enums.ts";
import { builder, namedQuery, type Placeholders, runAll, runFirst } from "../../database/queries.ts";
import { webhookEndpoints } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { isLoopback } from "../../http/loopback.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { administeredOrganization } from "../roles/roles.schemas.ts";
import type {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from "./webhook_endpoints.schemas.ts";
import { newSecret } from "./webhook_endpoints.secrets.ts";
import {
  endpointById,
  endpointsOf,
  hasAllEndpoints,
  type OwnEndpoint,
  ownEndpoint,
  webhookEndpointColumns,
} from "./webhook_endpoints.sql.ts";
import { forbiddenUrl } from "./webhook_endpoints.url.ts";

/** There are so few that they are not paged. */
export async function listWebhookEndpoints({ db, caller }: ClientContext): Promise<WebhookEndpoint[]> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  return runAll(db, endpointsOf({ organization_id }));
}

export async function requireWebhookEndpoint(
  { db, caller }: ClientContext,
  id: number,
): Promise<WebhookEndpoint> {
  const organization_id = administeredOrganization(caller, "Webhook endpoint");
  const endpoint = await runFirst(db, endpointById({ organization_id, id }));
  if (!endpoint) throw notFound("Webhook endpoint");
  return endpoint;
}

export async function createWebhookEndpoint(
  context: ClientContext,
  { url, event_types, is_active }: z.output<typeof createWebhookEndpointBody>["webhook_endpoint"],
): Promise<WebhookEndpointWithSecret> {
  const organization_id = administeredOrganization(context.caller, "Webhook endpoint");
  requireAllowedUrl(context, url);
  const secret = newSecret();
  const endpoint = await insertEndpoint(context, {
    organization_id,
    url,
    event_types: stored(event_types),
    is_active,
    secret,
    service_url: new URL(context.url).origin,
    now: context.now,
  });
  return { ...endpoint, secret };
}

interface NewEndpoint {
  organization_id: number;
  url: string;
  event_types: string | null;
  is_active: boolean;
  secret: string;
  service_url: string;
  now: number;
}

const insertEndpoint = namedCreation(
  {
    table: webhookEndpoints,
    columns: webhookEndpointColumns,
    secretAdvice:
      "The endpoint exists, but its secret is shown only once: if you do not have it, find the endpoint in the list and rotate its secret",
  },
  ({
    organization_id,
    url,
    event_types,
    is_active,
    secret,
    service_url,
    now,
  }: Placeholders<NewEndpoint>) => ({
    rules: [
      {
        broken: hasAllEndpoints(organization_id),
        refusal: () =>
          unprocessable(
            `The organization has ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints, which is the most that it can have: delete one first`,
          ),
      },
    ],
    statements: [
      builder
        .insert(webhookEndpoints)
        .values({
          organization_id,
          url,
          event_types: sql`${event_types}`,
          is_active,
          secret,
          service_url,
          created_at: now,
          updated_at: now,
        })
        .returning(webhookEndpointColumns),
    ],
  }),
);

/** A field left out stays. An endpoint that is activated is no longer disabled for any reason. */
export async function updateWebhookEndpoint(
  context: ClientContext,
  id: number,
  { url, event_types, is_active }: z.output<typeof updateWebhookEndpointBody>["webhook_endpoint"],
): Promise<WebhookEndpoint> {
  const organization_id = administeredOrganization(context.caller, "Webhook endpoint");
  if (url !== undefined) requireAllowedUrl(context, url);
  const endpoint = await runFirst(
    context.db,
    updateEndpoint({
      organization_id,
      id,
      url: url ?? null,
      keeps_types: event_types === undefined,
      event_types: stored(event_types),
      is_active: is_active ?? null,
      service_url: new URL(context.url).origin,
      now: context.now,
    }),
  );
  if (!endpoint) throw notFound("Webhook endpoint");
  return endpoint;
}

/** null leaves the URL, or whether it is active, as it is. */
interface EndpointChange extends OwnEndpoint {
  url: string | null;
  keeps_types: boolean;
  event_types: string | null;
  is_active: boolean | null;
  service_url: string;
  now: number;
}

const updateEndpoint = namedQuery((change: Placeholders<EndpointChange>) => {
  const { url, keeps_types, event_types, is_active, service_url, now } = change;
  return builder
    .update(webhookEndpoints)
    .set({
      url: sql`coalesce(${url}, ${webhookEndpoints.url})`,
      event_types: sql`iif(${keeps_types}, ${webhookEndpoints.event_types}, ${event_types})`,
      is_active: sql`coalesce(${is_active}, ${webhookEndpoints.is_active})`,
      disabled_reason: sql`iif(${is_active}, null, ${webhookEndpoints.disabled_reason})`,
      service_url: sql`iif(${url} is null, ${webhookEndpoints.service_url}, ${service_url})`,
      // What failed before says nothing of an endpoint that was repaired.
      failing_since: sql`iif(${is_active} or ${url} is not null, null, ${webhookEndpoints.failing_since})`,
      updated_at: sql`${now}`,
    })
    .where(ownEndpoint(change))
    .returning(webhookEndpointColumns);
});

export async function deleteWebhookEndpoint(context: ClientContext, id: number): Promise<void> {
  const organization_id = administeredOrganization(context.caller, "Webhook endpoint");
  const deleted = await runFirst(context.db, deleteEndpoint({ organization_id, id }));
  if (!deleted) throw notFound("Webhook endpoint");
}

const deleteEndpoint = namedQuery((endpoint: Placeholders<OwnEndpoint>) =>
  builder.delete(webhookEndpoints).where(ownEndpoint(endpoint)).returning({ id: webhookEndpoints.id }),
);

/** @throws ApiError 422 saying what would be right */
function requireAllowedUrl({ url: ownUrl }: ClientContext, url: string): void {
  const allowsLoopback = isLoopback(new URL(ownUrl).hostname);
  const reason = forbiddenUrl(url, { ownUrl, allowsLoopback });
  if (reason) throw unprocessable(`webhook_endpoint.url: ${reason}`);
}

/** As JSON text. All types are null, so that an endpoint that wants all of them gets later ones too. */
const stored = (types: EventType[] | undefined): string | null =>
  types === undefined || types.length === EVENT_TYPES.length ? null : JSON.stringify(types);
