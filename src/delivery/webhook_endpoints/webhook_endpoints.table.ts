import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { DisabledReason, EventTypeName } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The URLs to which organizations want their events sent.
 *
 * - `event_types`: a JSON array of types and families; null for all types, including future ones.
 * - `disabled_reason`: why the service has stopped sending; null if the organization stopped it.
 * - `secret`: signs the deliveries, so it is stored in plain text. Each of `previous_secrets` signs too until it expires.
 * - `service_url`: the service's own address when the URL was set. With it, the URL is checked again before each delivery.
 * - `created_by_user_id`: the administrator responsible for the endpoint, who created it, or last changed its URL or activated it.
 *   When this user is no longer an administrator, the endpoint is turned off.
 * - `due_at`: when the next delivery is due, or earlier; null if none is pending.
 * - `lease_until`: until then, only the lane that set it sends deliveries (see webhook_deliveries.lanes.ts).
 * - `failing_since`: the time of the first failure since the last successful delivery.
 * - `repaired_at`: when the endpoint last got another URL or was activated. Deliveries that failed before that are due at once.
 * - `message_at`: when the queue's message for the endpoint arrives, or arrived.
 */
export const webhookEndpoints = sqliteTable(
  "webhook_endpoints",
  {
    id: idColumn(),
    organization_id: organizationId(),
    url: text().notNull(),
    event_types: text({ mode: "json" }).$type<EventTypeName[]>(),
    is_active: integer({ mode: "boolean" }).notNull(),
    disabled_reason: text().$type<DisabledReason>(),
    secret: text().notNull(),
    previous_secrets: text({ mode: "json" })
      .$type<{ secret: string; expires_at: number }[]>()
      .notNull()
      .default([]),
    ...timestamps,
    created_by_user_id: integer().notNull(),
    service_url: text(),
    due_at: integer(),
    lease_until: integer(),
    failing_since: integer(),
    repaired_at: integer(),
    message_at: integer(),
  },
  (t) => [
    index("webhook_endpoints_by_organization").on(t.organization_id, t.id),
    index("webhook_endpoints_due").on(t.due_at).where(sql`due_at is not null and is_active`),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
  ],
);
