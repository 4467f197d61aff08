import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { parentId } from "../../database/columns.ts";
import { apiClients } from "../api_clients/api_clients.table.ts";
import { organizationId } from "../organizations/organizations.table.ts";

/**
 * The `Idempotency-Key` of each creation, kept for a day. `fingerprint` is the digest of the request. `result` is the created row as
 * JSON; null if the response contains a secret (see idempotency_keys.sql.ts).
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    organization_id: organizationId(),
    api_client_id: parentId(() => apiClients.id),
    key: text().notNull(),
    fingerprint: text().notNull(),
    result: text(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.api_client_id, t.key] }),
    index("idempotency_keys_by_age").on(t.organization_id, t.created_at),
  ],
);
