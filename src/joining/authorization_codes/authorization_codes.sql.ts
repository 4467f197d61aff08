import { and, eq, gt, isNull, sql } from "drizzle-orm";
import { columnAs, hasValues } from "../../database/expressions.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import type { OwnPath } from "../../http/wire.ts";
import { accountIdOf, hasAccount, type OfEmail } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { isServed } from "../../organization/organizations/organizations.sql.ts";
import { organizations } from "../../organization/organizations/organizations.table.ts";
import { authorizationCodes } from "./authorization_codes.table.ts";

export const redeemedCodeColumns = {
  organization_id: columnAs(organizations.id, "organization_id"),
  organization_name: columnAs(organizations.name, "organization_name"),
  organization_slug: columnAs(organizations.slug, "organization_slug"),
  /** Never null: only members sign in. */
  email: sql<string>`${organizationUsers.email}`.as("email"),
  display_name: organizationUsers.display_name,
  organization_user_id: columnAs(organizationUsers.id, "organization_user_id"),
  roles: organizationUsers.roles,
};

type NewCode = OfEmail & { code_digest: string; expires_at: number; now: number };

/** No row if no user with an account has this email. */
export const insertAuthorizationCode = preparedQuery(
  ({ organization_id, email, code_digest, expires_at, now }: Placeholders<NewCode>) =>
    insertSelect(
      authorizationCodes,
      {
        organization_id,
        organization_user_id: organizationUsers.id,
        code_digest,
        expires_at,
        used_at: null,
        created_at: now,
      },
      { from: organizationUsers, where: eq(organizationUsers.id, accountIdOf(organization_id, email)) },
    ).returning({ id: authorizationCodes.id }),
);

/** No row if the code is unknown, used or expired, or if its organization is suspended. */
export const consumeCode = preparedQuery(
  ({ code_digest, now }: Placeholders<{ code_digest: string; now: number }>) =>
    builder
      .update(authorizationCodes)
      .set({ used_at: now })
      .where(
        and(
          eq(authorizationCodes.code_digest, code_digest),
          isNull(authorizationCodes.used_at),
          gt(authorizationCodes.expires_at, now),
          isServed(authorizationCodes.organization_id),
        ),
      )
      .returning({ id: authorizationCodes.id }),
);

/** No row if the user's membership has ended. */
export const redeemedCode = preparedQuery(({ code_digest }: Placeholders<{ code_digest: string }>) =>
  builder
    .select({ ...redeemedCodeColumns, is_suspended: organizations.is_suspended })
    .from(authorizationCodes)
    .innerJoin(organizationUsers, eq(organizationUsers.id, authorizationCodes.organization_user_id))
    .innerJoin(organizations, eq(organizations.id, authorizationCodes.organization_id))
    .where(and(eq(authorizationCodes.code_digest, code_digest), hasAccount(organizationUsers))),
);

/** The index on the expiry finds them. */
export const deleteCodesOf = preparedQuery(
  ({ organization_id, id, now }: Placeholders<OwnPath & { now: number }>) =>
    builder
      .delete(authorizationCodes)
      .where(
        and(
          hasValues(authorizationCodes, { organization_id, organization_user_id: id }),
          gt(authorizationCodes.expires_at, now),
          isNull(authorizationCodes.used_at),
        ),
      ),
);
