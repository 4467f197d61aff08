import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps } from "../../database/columns.ts";
import { organizationId } from "../organizations/organizations.table.ts";

/** The identity providers with which an organization's users may sign in. The operator registers them. */
export const issuers = sqliteTable(
  "issuers",
  {
    id: idColumn(),
    organization_id: organizationId(),
    issuer: text().notNull(),
    audience: text().notNull(),
    jwks_url: text().notNull(),
    email_claim: text().notNull(),
    require_verified_email: integer({ mode: "boolean" }).notNull().default(true),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("issuers_by_organization").on(t.organization_id, t.issuer, t.audience),
    index("issuers_listed").on(t.organization_id, t.id),
  ],
);
