import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizationId } from "../organizations/organizations.table.ts";

/**
 * The usage of an organization on a UTC date: the writes of its API clients, the entries in its access log, and the visits (calls
 * reported for the first time). The row with `api_client_id` 0 counts for all clients together. The rows of single clients are kept
 * for a day or two, because each client may use only a part of its organization's limit (see usage.quotas.ts).
 */
export const organizationDays = sqliteTable(
  "organization_days",
  {
    organization_id: organizationId(),
    /** `YYYY-MM-DD`. */
    date: text().notNull(),
    api_client_id: integer().notNull().default(0),
    writes: integer().notNull().default(0),
    access_log_entries: integer().notNull().default(0),
    visits: integer().notNull().default(0),
    /** Mails that the organization decided to send: see usage.triggers.sql. */
    mails: integer().notNull().default(0),
    /** The two reserves: see usage.quotas.ts. */
    sign_ins: integer().notNull().default(0),
    reserved: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.organization_id, t.date, t.api_client_id] }),
    index("organization_days_of_clients")
      .on(t.organization_id, t.date, t.api_client_id)
      .where(sql`api_client_id <> 0`),
  ],
);
