import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn, timestamps, withinOrganization } from "../../database/columns.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import { organizationId } from "../organizations/organizations.table.ts";

/** Logs name it if nobody else caused a change. No organization user has this id: the baseline begins with the next one. */
export const SYSTEM_USER_ID = 1;

/** Roles are JSON, so the name is searched with its quotation marks; as a literal, so that SQLite finds the index of the role. */
export const memberHasRole = (roles: SQLWrapper, role: Role): SQL =>
  sql`instr(${roles}, char(34) || ${sql.raw(`'${role}'`)} || char(34)) > 0`;

/**
 * The accounts of people in an organization. The id is also the contract's `user_id`. Somebody who works for two organizations has two
 * accounts, and neither organization learns of the other. `roles` is a JSON array, lowest role first. A membership that has ended
 * keeps its row, without roles. Its email is free for another member, and can be null. `assists_changes` counts the changes of the member's assists, so that a trigger writes one event for
 * each: it cannot tell from the rows of `organizationUserAssists`, which are replaced one by one.
 */
export const organizationUsers = sqliteTable(
  "organization_users",
  {
    id: idColumn(),
    organization_id: organizationId(),
    email: text(),
    display_name: text().notNull(),
    roles: text({ mode: "json" }).$type<Role[]>().notNull(),
    assists_changes: integer().notNull().default(0),
    ...timestamps,
  },
  (t) => [
    uniqueIndex("organization_users_by_email").on(t.organization_id, t.email).where(sql`roles <> '[]'`),
    index("former_members_by_email").on(t.organization_id, t.email).where(sql`roles = '[]'`),
    uniqueIndex("organization_users_by_organization").on(t.organization_id, t.id),
    ...ROLES.map((role) =>
      index(`organization_users_by_role_${role}`)
        .on(t.organization_id, t.id)
        .where(memberHasRole(sql`roles`, role)),
    ),
    check("organization_users_are_people", sql`id <> ${sql.raw(String(SYSTEM_USER_ID))}`),
    check("organization_users_have_emails", sql`email is not null or roles = '[]'`),
  ],
);

/** The providers whose calls a provider_assistant can read in addition to their own. */
export const organizationUserAssists = sqliteTable(
  "organization_user_assists",
  { organization_id: organizationId(), assistant_id: integer().notNull(), provider_id: integer().notNull() },
  (t) => [
    primaryKey({ columns: [t.assistant_id, t.provider_id] }),
    withinOrganization(t, t.assistant_id, organizationUsers),
    withinOrganization(t, t.provider_id, organizationUsers),
    index("organization_user_assists_by_provider").on(t.organization_id, t.provider_id),
  ],
);
