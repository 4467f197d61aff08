import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { withinOrganization } from "../../database/columns.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";

/**
 * The contents of a final text before each correction; the oldest is version 1. `lines` is JSON with pairs of the id and the text of
 * the lines that the correction changed; null if it changed none. `user_id`, `created_at` and `reason` are about the correction that
 * ended the version. Versions are deleted with their text.
 */
export const callTextVersions = sqliteTable(
  "call_text_versions",
  {
    organization_id: organizationId(),
    text_id: integer().notNull(),
    version: integer().notNull(),
    text: text(),
    summary: text(),
    lines: text(),
    reason: text().notNull(),
    user_id: integer().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.text_id, t.version] }),
    withinOrganization(t, t.text_id, callTexts).onDelete("cascade"),
    withinOrganization(t, t.user_id, organizationUsers),
  ],
);

export type TextVersion = typeof callTextVersions.$inferSelect;
