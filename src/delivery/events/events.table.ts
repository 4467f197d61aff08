import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn } from "../../database/columns.ts";
import type { EventType } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The events of an organization, in order. Triggers of the resources write each event in the transaction of its change, whatever code
 * makes the change. `data` holds ids and nothing else, except for a sealed day its date and digest. `created_at` is the time that the
 * changed row has for the change; after a DELETE there is no row, so the event gets the time of the database. A report that changes
 * nothing updates no row, or updates it to the same values, and so writes no event. Events never change; the cron deletes old ones.
 */
export const events = sqliteTable(
  "events",
  {
    id: idColumn(),
    organization_id: organizationId(),
    type: text().$type<EventType>().notNull(),
    data: text({ mode: "json" }).$type<Record<string, number | string>>().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    index("events_by_organization").on(t.organization_id, t.id),
    index("events_by_type").on(t.organization_id, t.type, t.id),
    index("events_by_age").on(t.organization_id, t.created_at),
    // For the platform, which reads the events of all organizations.
    index("events_of_everybody_by_type").on(t.type, t.id),
  ],
);
