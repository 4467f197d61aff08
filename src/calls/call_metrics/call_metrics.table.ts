import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/** The organization_user_id in the metrics of a whole organization. No organization user has this id. */
export const WHOLE_ORGANIZATION = 0;

/** The waiting_room_id in the metrics of all rooms together. No room has this id. */
export const ALL_ROOMS = 0;

/** The sums of a date by quarter hour, to be summed by other days: `{"<quarter hours since 1970>": [the counts, in the table's order]}`. */
export const quarters = () => text().notNull();

/**
 * Counts and sums over the calls of a date, for each organization user, and for all of them as WHOLE_ORGANIZATION, each by room, and
 * for ALL_ROOMS. Triggers on calls and participants maintain the rows (see call_daily_metrics.triggers.sql): nothing else writes here.
 */
export const callDailyMetrics = sqliteTable(
  "call_daily_metrics",
  {
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    waiting_room_id: integer().notNull(),
    /** The UTC date on which the calls started, as `YYYY-MM-DD`. */
    date: text().notNull(),
    total_calls: integer().notNull(),
    failed_calls: integer().notNull(),
    /** Calls whose end was reported, including failed calls. `duration_ms` is the sum of their durations. */
    ended_calls: integer().notNull(),
    duration_ms: integer().notNull(),
    /** Recipients who waited. `wait_ms` is the sum of their waits. */
    waits: integer().notNull(),
    wait_ms: integer().notNull(),
    quarters: quarters(),
  },
  (t) => [primaryKey({ columns: [t.organization_id, t.organization_user_id, t.waiting_room_id, t.date] })],
);
