import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, withinOrganization } from "../../database/columns.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/** `code_digest` is the SHA-256 of the code in hex. The code itself is not stored. */
export const authorizationCodes = sqliteTable(
  "authorization_codes",
  {
    id: idColumn(),
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    code_digest: text().notNull().unique(),
    expires_at: integer().notNull(),
    used_at: integer(),
    created_at: integer().notNull(),
  },
  (t) => [
    index("authorization_codes_by_expiry").on(t.organization_id, t.expires_at),
    withinOrganization(t, t.organization_user_id, organizationUsers),
  ],
);
