import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, withinOrganization } from "../../database/columns.ts";
import type { HoldBeginner } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { calls } from "../calls/calls.table.ts";

/**
 * While a call has a running legal hold, no result of the call is deleted; a draft can still be reported again. Holds are kept after
 * their end. Triggers refuse all changes except of the reason, of the end, and of `begun_by` to the platform (see
 * legal_holds.triggers.sql).
 */
export const legalHolds = sqliteTable(
  "legal_holds",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer().notNull(),
    begun_by: text().$type<HoldBeginner>().notNull(),
    reason: text(),
    began_at: integer().notNull(),
    ended_at: integer(),
  },
  (t) => [
    uniqueIndex("legal_holds_running").on(t.call_id).where(sql`ended_at is null`),
    index("legal_holds_by_call").on(t.call_id, t.ended_at),
    withinOrganization(t, t.call_id, calls),
  ],
);
