import { and, eq, isNull, sql } from "drizzle-orm";
import { accessEntries, entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { hasValues } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { accountIdOf, hasAccount, memberIdOf, type OfEmail } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";

export const signInEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(({ organization_id, email }: Placeholders<OfEmail>) =>
  eq(organizationUsers.id, accountIdOf(organization_id, email)),
);

/** The organization user with this email, even if the membership has ended. */
export const accountByEmail = preparedQuery(({ organization_id, email }: Placeholders<OfEmail>) =>
  builder
    .select({
      id: organizationUsers.id,
      has_account: sql`${hasAccount(organizationUsers)}`.mapWith(Boolean).as("has_account"),
    })
    .from(organizationUsers)
    .where(hasValues(organizationUsers, { organization_id, email })),
);

/** The access log entry of an exchange for an email without an account. It names the former member, if there was one. */
export const refusedSignInEntry = accessEntries(
  "organization_user",
  ({ organization_id, email }: Placeholders<OfEmail>) => ({
    organization_id: organizations.id,
    resource_id: memberIdOf(organization_id, email),
    organization_user_id: memberIdOf(organization_id, email),
    from: organizations,
    where: and(eq(organizations.id, organization_id), isNull(accountIdOf(organization_id, email))),
  }),
);
