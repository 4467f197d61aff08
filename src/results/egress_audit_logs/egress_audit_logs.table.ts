import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { idColumn, parentId } from "../../database/columns.ts";
import type { AuditEvent } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";
import { egresses } from "../egresses/egresses.table.ts";

/**
 * The changes of recordings, and who read them. Triggers refuse to change or delete entries. Triggers on egresses write the entries of
 * creations and changes (see audited_fields.ts). `object_changes` holds [old, new] for each field as it is stored: times in
 * milliseconds, booleans as 0 and 1.
 */
export const egressAuditLogs = sqliteTable(
  "egress_audit_logs",
  {
    id: idColumn(),
    organization_id: organizationId(),
    egress_id: parentId(() => egresses.id),
    event: text().$type<AuditEvent>().notNull(),
    user_id: integer().notNull(),
    object_changes: text({ mode: "json" }).$type<Record<string, [unknown, unknown]>>(),
    created_at: integer().notNull(),
  },
  (t) => [
    index("egress_audit_logs_newest").on(t.egress_id, t.created_at, t.id),
    index("egress_audit_logs_by_event").on(t.egress_id, t.event, t.created_at, t.id),
  ],
);
