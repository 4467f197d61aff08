import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { organizations } from "../../organization/organizations/organizations.table.ts";

/**
 * The running exports: at most one for each organization. The export with the `token` renews `lease_until` while it makes lines, and
 * deletes the row at its end. After `lease_until`, another export may take over the row.
 */
export const participantExports = sqliteTable("participant_exports", {
  organization_id: integer()
    .primaryKey()
    .references(() => organizations.id),
  token: text().notNull(),
  lease_until: integer().notNull(),
});
