import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { BulkInviteRowStatus, Role } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/** `completed_at`: when the last row was processed. `erased_at`: when the personal data of all rows was deleted. */
export const bulkInvites = sqliteTable(
  "bulk_invites",
  {
    id: idColumn(),
    organization_id: organizationId(),
    total_count: integer().notNull(),
    completed_at: integer(),
    erased_at: integer(),
    ...timestamps,
    created_by_user_id: integer().notNull(),
  },
  (t) => [
    uniqueIndex("bulk_invites_by_organization").on(t.organization_id, t.id),
    index("bulk_invites_uncompleted").on(t.organization_id, t.created_at).where(sql`completed_at is null`),
    // For a member who loses the right to invite.
    index("bulk_invites_by_creator")
      .on(t.organization_id, t.created_by_user_id)
      .where(sql`completed_at is null`),
    index("bulk_invites_unerased").on(t.organization_id, t.created_at).where(sql`erased_at is null`),
    // For the quota: the number of rows that an organization has sent recently.
    index("bulk_invites_lately").on(t.organization_id, t.created_at, t.total_count),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
  ],
);

/**
 * `row` is the position in the request, counted from 0. `error` is the reason why a row failed. `address_digest` is the digest of the
 * email, as in `mailed_addresses`. `address_digest`, `email` and `display_name` are empty once the personal data is deleted.
 */
export const bulkInviteRows = sqliteTable(
  "bulk_invite_rows",
  {
    organization_id: organizationId(),
    bulk_invite_id: integer().notNull(),
    row: integer().notNull(),
    email: text().notNull(),
    address_digest: text().notNull().default(""),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    status: text().$type<BulkInviteRowStatus>().notNull(),
    error: text(),
  },
  (t) => [
    primaryKey({ columns: [t.bulk_invite_id, t.row] }),
    index("bulk_invite_rows_by_status").on(t.bulk_invite_id, t.status, t.row),
    index("bulk_invite_rows_by_email").on(t.bulk_invite_id, t.email, t.row),
    withinOrganization(t, t.bulk_invite_id, bulkInvites),
  ],
);
