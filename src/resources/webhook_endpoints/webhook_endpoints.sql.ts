import { and, asc, count, eq, getTableColumns, gte, or, type SQL } from "drizzle-orm";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row, type Values } from "../../database/queries.ts";
import { webhookEndpoints } from "../../database/schema.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { OwnPath } from "../../http/wire.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { entriesOf } from "../access_logs/access_logs.entries.ts";
import { idempotencyOfSecret } from "../idempotency_keys/idempotency_keys.sql.ts";
import type { OfMember } from "../organization_users/organization_users.sql.ts";
import { ROTATE_LOST_SECRET } from "./webhook_endpoints.refusals.ts";

const { secret, previous_secrets, due_at, lease_until, message_at, ...ownColumns } =
  getTableColumns(webhookEndpoints);

/** Without secrets, and without the state of its lane, which changes with every event. */
export const webhookEndpointColumns = ownColumns;

/** True for the organization's endpoint of this id. */
const ownEndpoint = ({ organization_id, id }: Values<OwnPath>): SQL | undefined =>
  hasValues(webhookEndpoints, { organization_id, id });

export const endpointWrites = tableWrites(webhookEndpoints, webhookEndpointColumns);

export const endpointEntry = entriesOf("webhook_endpoint", webhookEndpoints);

export const endpointIdempotency =
  idempotencyOfSecret<Row<typeof webhookEndpointColumns>>(ROTATE_LOST_SECRET);

export const endpointsOf = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  builder
    .select(webhookEndpointColumns)
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organization_id, organization_id))
    .orderBy(asc(webhookEndpoints.id)),
);

/** Whether the organization has all the endpoints that it can have. As a number, each creation would change it for others. */
export const endpointQuota = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  builder
    .select({ is_full: gte(count(), MAX_WEBHOOK_ENDPOINTS).mapWith(Boolean).as("is_full") })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.organization_id, organization_id)),
);

export const endpointById = preparedQuery((endpoint: Placeholders<OwnPath>) =>
  builder.select(webhookEndpointColumns).from(webhookEndpoints).where(ownEndpoint(endpoint)),
);

/** An endpoint with what signs its deliveries. */
export const endpointWithSecrets = preparedQuery((endpoint: Placeholders<OwnPath>) =>
  builder
    .select({ ...webhookEndpointColumns, secret, previous_secrets })
    .from(webhookEndpoints)
    .where(ownEndpoint(endpoint)),
);

/**
 * Turns off the endpoints for which a member answers: those that are active, and those that would be when a restored service
 * is resumed.
 */
export const turnOffEndpointsOf = preparedQuery(
  ({ organization_id, user_id, now }: Placeholders<OfMember & { now: number }>) =>
    builder
      .update(webhookEndpoints)
      .set({ is_active: false, disabled_reason: "creator_removed", updated_at: now })
      .where(
        and(
          hasValues(webhookEndpoints, { organization_id, created_by_user_id: user_id }),
          or(webhookEndpoints.is_active, eq(webhookEndpoints.disabled_reason, "restored")),
        ),
      ),
);

export const deleteEndpoint = preparedQuery((endpoint: Placeholders<OwnPath>) =>
  builder.delete(webhookEndpoints).where(ownEndpoint(endpoint)).returning({ id: webhookEndpoints.id }),
);
