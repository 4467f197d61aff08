import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { Scope } from "../../database/enums.ts";
import { organizationUsers } from "../members/organization_users.table.ts";
import { organizationId } from "../organizations/organizations.table.ts";

/** `secret_digest` is the SHA-256 of the secret in hex. The secret itself is not stored. */
export const apiClients = sqliteTable(
  "api_clients",
  {
    id: idColumn(),
    organization_id: organizationId(),
    organization_user_id: integer().notNull(),
    name: text().notNull(),
    client_id: text().notNull().unique(),
    secret_digest: text().notNull(),
    /** The last characters of the secret. */
    secret_hint: text().notNull(),
    /** null allows everything that the roles of the user allow. */
    scopes: text({ mode: "json" }).$type<Scope[]>(),
    expires_at: integer(),
    /** The time of the client's first request on the last UTC day on which it was used. */
    last_used_at: integer(),
    revoked_at: integer(),
    ...timestamps,
  },
  (t) => [
    // For the end of a membership, and the quota.
    index("api_clients_in_use").on(t.organization_id, t.revoked_at, t.organization_user_id),
    withinOrganization(t, t.organization_user_id, organizationUsers),
    index("api_clients_listed").on(t.organization_id, t.id),
  ],
);
