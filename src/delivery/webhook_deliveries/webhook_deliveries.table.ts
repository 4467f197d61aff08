import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The deliveries of events to endpoints. Together with an event, triggers write a row for each endpoint that subscribes to it, and
 * update the endpoint's `due_at` (see webhook_deliveries.triggers.sql). `next_attempt_at` is null once the event was delivered or
 * given up. `response_status` and `error` describe the last attempt.
 *
 * Rows refer to their endpoint and event without foreign keys. An endpoint can have hundreds of thousands of rows: after a DELETE of
 * the endpoint, the cron deletes them in portions, as it does with the rows of deleted events.
 */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    organization_id: organizationId(),
    webhook_endpoint_id: integer().notNull(),
    event_id: integer().notNull(),
    attempts: integer().notNull().default(0),
    last_attempt_at: integer(),
    response_status: integer(),
    error: text(),
    next_attempt_at: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.webhook_endpoint_id, t.event_id] }),
    // In the order of sending, with all columns that a lane reads. Without it, SQLite would use the primary key, and also read
    // the rows that were delivered.
    index("webhook_deliveries_pending")
      .on(t.webhook_endpoint_id, t.event_id, t.next_attempt_at, t.attempts, t.last_attempt_at)
      .where(sql`next_attempt_at is not null`),
  ],
);
