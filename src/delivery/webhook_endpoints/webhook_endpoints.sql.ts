import { and, asc, count, eq, getTableColumns, gte, or } from "drizzle-orm";
import { entriesOf } from "../../audit/access_logs/access_logs.entries.ts";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { deleteBy, rowsBy, rowsWhere } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { idempotencyOfSecret } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import type { OfMember } from "../../organization/members/members.sql.ts";
import { ROTATE_LOST_SECRET } from "./webhook_endpoints.refusals.ts";
import { webhookEndpoints } from "./webhook_endpoints.table.ts";

const { secret, previous_secrets, due_at, lease_until, repaired_at, message_at, ...ownColumns } =
  getTableColumns(webhookEndpoints);

/** Without secrets, and without the lane's state, which changes with every event. */
export const webhookEndpointColumns = ownColumns;

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

/** A boolean, because a count would make concurrent creations conflict. */
export const endpointQuota = rowsWhere(
  webhookEndpoints,
  { is_full: gte(count(), MAX_WEBHOOK_ENDPOINTS).mapWith(Boolean).as("is_full") },
  ({ organization_id }: Placeholders<{ organization_id: number }>) =>
    eq(webhookEndpoints.organization_id, organization_id),
);

export const endpointById = rowsBy(webhookEndpoints, webhookEndpointColumns, "organization_id", "id");

export const endpointWithSecrets = rowsBy(
  webhookEndpoints,
  { ...webhookEndpointColumns, secret, previous_secrets },
  "organization_id",
  "id",
);

/** Also restored endpoints that would be activated when the service is resumed. */
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

export const deleteEndpoint = deleteBy(webhookEndpoints, "organization_id", "id");
