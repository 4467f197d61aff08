import { and, asc, count, eq, gte, type SQL, sql } from "drizzle-orm";
import { builder, namedQuery, type Placeholders, type Value, type Values } from "../../database/queries.ts";
import { webhookEndpoints } from "../../database/schema.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";

/** All that is shown of an endpoint: never a secret. */
export const webhookEndpointColumns = {
  id: webhookEndpoints.id,
  url: webhookEndpoints.url,
  event_types: webhookEndpoints.event_types,
  is_active: webhookEndpoints.is_active,
  disabled_reason: webhookEndpoints.disabled_reason,
  created_at: webhookEndpoints.created_at,
  updated_at: webhookEndpoints.updated_at,
};

/** Which endpoint a path names, and whose it must be, as values of a query. */
export interface OwnEndpoint {
  organization_id: number;
  id: number;
}

/** True for the organization's endpoint of this id. */
export const ownEndpoint = ({ organization_id, id }: Values<OwnEndpoint>): SQL | undefined =>
  and(eq(webhookEndpoints.organization_id, organization_id), eq(webhookEndpoints.id, id));

/** Selects the ids of endpoints, for conditions. */
export const endpointWhere = (condition: SQL | undefined) =>
  builder.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(condition);

/** True if the organization may have no more endpoints. */
export function hasAllEndpoints(organization_id: Value<number>): SQL {
  const present = builder
    .select({ count: count() })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organization_id, organization_id));
  return gte(sql`${present}`, MAX_WEBHOOK_ENDPOINTS);
}

/** Selects the previous secrets that have not expired, as rows of `old`. */
export const validSecrets = (now: Value<number>): SQL =>
  sql`from json_each(${webhookEndpoints.previous_secrets}) as old where old.value ->> 'expires_at' > ${now}`;

export const endpointsOf = namedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  builder
    .select(webhookEndpointColumns)
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organization_id, organization_id))
    .orderBy(asc(webhookEndpoints.id)),
);

export const endpointById = namedQuery((endpoint: Placeholders<OwnEndpoint>) =>
  builder.select(webhookEndpointColumns).from(webhookEndpoints).where(ownEndpoint(endpoint)),
);
