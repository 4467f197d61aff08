import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import type { MailStatus, Role } from "../../database/enums.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * An invite is pending until it is used, even if it has expired. An email has at most one pending invite. A pending invite is deleted
 * when the member who created it loses the right to invite (see memberships.sql.ts).
 *
 * - `returning_user_id`: the former member whom the invite brings back. Null if the invitee becomes a new member.
 * - `resent_at`: when the invite was last resent. Its link contains this time.
 * - `mailed_at`: when the last mail was sent.
 * - `next_mail_at`: when a mail is due. Once the mail is leased, this is when it is due again if its sender dies.
 * - `mail_attempts`: the number of attempts that failed with a temporary error.
 * - `mail_leases`: the number of attempts whose results are unknown.
 */
export const invites = sqliteTable(
  "invites",
  {
    id: idColumn(),
    organization_id: organizationId(),
    email: text().notNull(),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    expires_at: integer().notNull(),
    used_at: integer(),
    ...timestamps,
    created_by_user_id: integer().notNull(),
    returning_user_id: integer(),
    resent_at: integer(),
    mail_status: text().$type<MailStatus>().notNull().default("off"),
    mailed_at: integer(),
    next_mail_at: integer(),
    mail_attempts: integer().notNull().default(0),
    mail_leases: integer().notNull().default(0),
  },
  (t) => [
    uniqueIndex("invites_pending").on(t.organization_id, t.email).where(sql`used_at is null`),
    // To skip pages and expired invites, SQLite reads only this index.
    index("invites_listed").on(t.organization_id, t.id, t.expires_at).where(sql`used_at is null`),
    // For the totals. The organization comes first, so that they do not read expired invites of other organizations.
    index("invites_by_expiry").on(t.organization_id, t.expires_at).where(sql`used_at is null`),
    // For the platform, which lists the invites of all organizations.
    index("invites_unused").on(t.id, t.expires_at).where(sql`used_at is null`),
    // For a member who loses the right to invite.
    index("invites_by_creator").on(t.organization_id, t.created_by_user_id).where(sql`used_at is null`),
    // For a member who is removed again.
    index("invites_by_returning_user")
      .on(t.organization_id, t.returning_user_id)
      .where(sql`used_at is null and returning_user_id is not null`),
    index("invites_to_mail").on(t.organization_id, t.next_mail_at).where(sql`next_mail_at is not null`),
    withinOrganization(t, t.created_by_user_id, organizationUsers),
    withinOrganization(t, t.returning_user_id, organizationUsers),
  ],
);
