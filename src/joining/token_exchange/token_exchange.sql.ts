import { and, eq, isNull } from "drizzle-orm";
import { accessEntries, entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Placeholders } from "../../database/queries.ts";
import { accountIdOf, type OfEmail } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";

export const signInEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(({ organization_id, email }: Placeholders<OfEmail>) =>
  eq(organizationUsers.id, accountIdOf(organization_id, email)),
);

/** The access log entry of an exchange for an email without an account. */
export const refusedSignInEntry = accessEntries(
  "organization_user",
  ({ organization_id, email }: Placeholders<OfEmail>) => ({
    organization_id: organizations.id,
    resource_id: null,
    from: organizations,
    where: and(eq(organizations.id, organization_id), isNull(accountIdOf(organization_id, email))),
  }),
);
