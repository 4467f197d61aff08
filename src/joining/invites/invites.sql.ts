import { and, asc, count, eq, getTableColumns, gt, gte, isNull, lte, type SQL, sql } from "drizzle-orm";
import { entriesOf } from "../../audit/access_logs/access_logs.entries.ts";
import { hasValues, withoutIndex } from "../../database/expressions.ts";
import { livesHere } from "../../database/moves.ts";
import { builder, type Placeholders, preparedQuery, type Value } from "../../database/queries.ts";
import { deleteBy, rowsBy, rowsWhere } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { totalOf } from "../../database/totals.ts";
import { pagedList } from "../../http/lists.ts";
import type { OwnPath } from "../../http/wire.ts";
import { MAX_UNUSED_INVITES } from "../../limits.ts";
import { idempotencyOf } from "../../organization/idempotency_keys/idempotency_keys.sql.ts";
import type { OfEmail, OfMember } from "../../organization/members/members.sql.ts";
import {
  isServed,
  mailNameOfOrganization,
  nameOfOrganization,
} from "../../organization/organizations/organizations.sql.ts";
import { includesAnyRole } from "../../organization/roles/roles.sql.ts";
import { invites } from "./invites.table.ts";

export const inviteColumns = {
  ...getTableColumns(invites),
  organization_name: nameOfOrganization(invites.organization_id).as("organization_name"),
};

/** For a platform that mails invites itself. Strangers see only the name in the service's own mails. */
const mailedInviteColumns: typeof inviteColumns = {
  ...inviteColumns,
  organization_name: mailNameOfOrganization(invites.organization_id).as("organization_name"),
};

/** An expired invite counts as pending too. */
const isPending = isNull(invites.used_at);

export const isPendingInviteOf = (organization_id: Value<number>, email: Value<string>): SQL | undefined =>
  and(hasValues(invites, { organization_id, email }), isPending);

export const deletePendingInvites = preparedQuery(({ organization_id, email }: Placeholders<OfEmail>) =>
  builder.delete(invites).where(isPendingInviteOf(organization_id, email)),
);

export const deleteInvitesReturning = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  builder
    .delete(invites)
    .where(and(hasValues(invites, { organization_id, returning_user_id: id }), isPending)),
);

export const inviteWrites = tableWrites(invites, inviteColumns);

export const inviteEntry = entriesOf("invite", invites);

export const inviteIdempotency = idempotencyOf(inviteWrites, {
  email: "repeated",
  display_name: "repeated",
  roles: "stored",
  mail_status: "stored",
  organization_name: "stored",
});

export const pendingInviteOf = rowsWhere(
  invites,
  { id: invites.id, expires_at: invites.expires_at },
  ({ organization_id, email }: Placeholders<OfEmail>) => isPendingInviteOf(organization_id, email),
);

/** A boolean, because a count would make concurrent creations conflict. */
export const inviteQuota = preparedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
  builder
    .select({
      is_full: gte(totalOf("invites", organization_id), MAX_UNUSED_INVITES).mapWith(Boolean).as("is_full"),
    })
    .from(sql`(select 1)`),
);

/**
 * Invites that bring back a former member are among them: their sender must be an organization_admin. `roles` is a JSON array.
 */
export const deleteInvitesMadeBy = preparedQuery(
  ({ organization_id, user_id, roles }: Placeholders<OfMember & { roles: string }>) =>
    builder
      .delete(invites)
      .where(
        and(
          hasValues(invites, { organization_id, created_by_user_id: user_id }),
          isPending,
          sql`(${invites.returning_user_id} is not null or ${includesAnyRole(invites.roles, roles)})`,
        ),
      ),
);

export const ownInviteById = rowsBy(invites, inviteColumns, "organization_id", "id");

export const mailedInviteById = rowsBy(invites, mailedInviteColumns, "organization_id", "id");

export const ownInviteRow = rowsBy(invites, getTableColumns(invites), "organization_id", "id");

export const removeInvite = deleteBy(invites, "organization_id", "id");

export const activeInvitesAfter = preparedQuery(
  ({ after, now, limit }: Placeholders<{ after: number; now: number; limit: number }>) =>
    builder
      .select(mailedInviteColumns)
      .from(invites)
      .where(
        and(
          gt(invites.id, after),
          isPending,
          gt(invites.expires_at, now),
          livesHere(invites.organization_id),
          isServed(invites.organization_id),
        ),
      )
      .orderBy(asc(invites.id))
      .limit(limit),
);

interface PendingInvites {
  organization_id: number;
  now: number;
}

/** With the index on the expiry, SQLite would sort all invites to show one page. */
const pageOfInvites = (compare: typeof gt | typeof lte) =>
  pagedList(
    invites,
    inviteColumns,
    [asc(invites.id)],
    ({ organization_id, now }: Placeholders<PendingInvites>) =>
      and(
        eq(invites.organization_id, organization_id),
        isPending,
        compare(withoutIndex(invites.expires_at), now),
      ),
  ).page;

export const pagesOfInvites = { active: pageOfInvites(gt), expired: pageOfInvites(lte) };

export const listedInviteOf = rowsWhere(
  invites,
  inviteColumns,
  ({ organization_id, email }: Placeholders<OfEmail>) => isPendingInviteOf(organization_id, email),
);

/** Expired invites are counted, because no trigger fires when an invite expires. */
export const totalsOfInvites = preparedQuery(({ organization_id, now }: Placeholders<PendingInvites>) => {
  const expired = builder
    .select({ expired: count().as("expired") })
    .from(invites)
    .where(and(eq(invites.organization_id, organization_id), isPending, lte(invites.expires_at, now)))
    .as("expired");
  return builder
    .select({
      active: sql<number>`${totalOf("invites", organization_id)} - ${expired.expired}`.as("active"),
      expired: expired.expired,
    })
    .from(expired);
});
