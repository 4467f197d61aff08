import { and, asc, count, eq, getTableColumns, gt, isNull, lte, not, type SQL, sql } from "drizzle-orm";
import { builder, namedQuery, type Placeholders, type Value } from "../../database/queries.ts";
import { invites, organizations } from "../../database/schema.ts";
import { selectTotal, totalOf } from "../../database/totals.ts";
import type { PageWindow } from "../../http/pagination.ts";

const organizationName = builder
  .select({ name: organizations.name })
  .from(organizations)
  .where(eq(organizations.id, invites.organization_id));

export const inviteColumns = {
  ...getTableColumns(invites),
  organization_name: sql<string>`${organizationName}`.as("organization_name"),
};

/** True for an invite that can still be accepted. */
export const isPending = (now: Value<number>): SQL | undefined =>
  and(isNull(invites.used_at), gt(invites.expires_at, now));

/** True for an invite that was not used in time. */
export const isExpired = (now: Value<number>): SQL | undefined =>
  and(isNull(invites.used_at), lte(invites.expires_at, now));

/** True for an expired invite that still counts in the list's total: the cron has not run since. */
export const isExpiredAndListed = (now: Value<number>): SQL | undefined =>
  and(isExpired(now), not(invites.is_lapsed));

/** True for the organization's invites of this email; at most one of them is not used. */
export const hasEmail = (organization_id: Value<number>, email: Value<string>): SQL | undefined =>
  and(eq(invites.organization_id, organization_id), eq(invites.email, email));

/** True for the organization's invite of this id. */
export const ownInvite = (organization_id: Value<number>, id: Value<number>): SQL | undefined =>
  and(eq(invites.organization_id, organization_id), eq(invites.id, id));

/** Selects the ids of invites, for conditions. */
export const inviteWhere = (condition: SQL | undefined) =>
  builder.select({ id: invites.id }).from(invites).where(condition);

export const pendingInviteOf = namedQuery(
  (invite: Placeholders<{ organization_id: number; email: string; now: number }>) =>
    inviteWhere(and(hasEmail(invite.organization_id, invite.email), isPending(invite.now))),
);

export const ownInviteById = namedQuery(
  ({ organization_id, id }: Placeholders<{ organization_id: number; id: number }>) =>
    builder.select(inviteColumns).from(invites).where(ownInvite(organization_id, id)),
);

/** For the platform, whose path names an invite of any organization. */
export const inviteById = namedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.select(inviteColumns).from(invites).where(eq(invites.id, id)),
);

/** The pending invites. */
export const pageOfInvites = namedQuery(
  ({
    organization_id,
    now,
    limit,
    offset,
  }: Placeholders<{ organization_id: number; now: number } & PageWindow>) =>
    builder
      .select(inviteColumns)
      .from(invites)
      .where(
        and(
          eq(invites.organization_id, organization_id),
          isNull(invites.used_at),
          not(invites.is_lapsed),
          // The plus keeps SQLite from the index by expiry: it would sort all invites to show one page.
          gt(sql`+${invites.expires_at}`, now),
        ),
      )
      .orderBy(asc(invites.id))
      .limit(limit)
      .offset(offset),
);

/** How many invites are pending: the list's total, less those that have expired since the cron ran. */
export const totalOfInvites = namedQuery(
  ({ organization_id, now }: Placeholders<{ organization_id: number; now: number }>) => {
    const expired = builder
      .select({ count: count() })
      .from(invites)
      .where(and(eq(invites.organization_id, organization_id), isExpiredAndListed(now)));
    return selectTotal(sql<number>`${totalOf("invites", organization_id)} - ${expired}`);
  },
);
