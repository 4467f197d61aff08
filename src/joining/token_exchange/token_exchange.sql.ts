import { and, eq, gt, isNull, notExists, sql } from "drizzle-orm";
import { accessEntries, entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import { accessLogs } from "../../audit/access_logs/access_logs.table.ts";
import { hasValues } from "../../database/expressions.ts";
import type { Placeholders } from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { accountIdOf, type OfEmail } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";

/** The earlier sign-ins that make another entry needless: those of the same person by this client, since this time. */
interface Repetition {
  by_client_id: number;
  since: number;
}

export const signInEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(({ organization_id, email, by_client_id, since }: Placeholders<OfEmail & Repetition>) => {
  const recent = selectColumn(
    accessLogs.id,
    hasValues(accessLogs, {
      organization_id: organizationUsers.organization_id,
      organization_user_id: organizationUsers.id,
      api_client_id: by_client_id,
    }),
    gt(accessLogs.at, since),
    // Must repeat the partial index's WHERE, or SQLite does not use the index.
    sql`${accessLogs.event} = 'sign_in'`,
  );
  return and(eq(organizationUsers.id, accountIdOf(organization_id, email)), notExists(recent));
});

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
