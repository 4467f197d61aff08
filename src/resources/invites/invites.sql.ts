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

/** True for an invite that was not used yet, expired or not. */
const isPending = isNull(invites.used_at);

/** True for a pending invite that was not marked as lapsed. It may have expired since. */
const isListed = and(isPending, not(invites.is_lapsed));

/** True for an invite that can still be accepted. */
export const isActive = (now: Value<number>): SQL | undefined => and(isListed, gt(invites.expires_at, now));

/** True for an invite that was not used in time. */
export const isExpired = (now: Value<number>): SQL | undefined =>
  and(isPending, lte(invites.expires_at, now));

/** True for an expired invite that was not marked as lapsed yet: it still counts in the list's total. */
export const isExpiredAndListed = (now: Value<number>): SQL | undefined =>
  and(isListed, lte(invites.expires_at, now));

/** True for the organization's invites of this email; at most one of them is active. */
export const hasEmail = (organization_id: Value<number>, email: Value<string>): SQL | undefined =>
  and(eq(invites.organization_id, organization_id), eq(invites.email, email));

/** True for the organization's invite of this id. */
export const ownInvite = (organization_id: Value<number>, id: Value<number>): SQL | undefined =>
  and(eq(invites.organization_id, organization_id), eq(invites.id, id));

/** Selects the ids of invites, for conditions. */
export const inviteWhere = (condition: SQL | undefined) =>
  builder.select({ id: invites.id }).from(invites).where(condition);

/** Marks expired invites, so that an email can be invited again. They stay, and nothing else about them changes. */
export const lapseInvites = (expired: SQL | undefined) =>
  builder.update(invites).set({ is_lapsed: true }).where(expired);

/** Deletes the organization's invites of this email that were not used, so that nobody can accept them any more. */
export const deletePendingInvites = (organization_id: Value<number>, email: Value<string>) =>
  builder.delete(invites).where(and(hasEmail(organization_id, email), isPending));

export const pendingInviteOf = namedQuery(
  ({ organization_id, email }: Placeholders<{ organization_id: number; email: string }>) =>
    inviteWhere(and(hasEmail(organization_id, email), isPending)).limit(1),
);

export const ownInviteById = namedQuery(
  ({ organization_id, id }: Placeholders<{ organization_id: number; id: number }>) =>
    builder.select(inviteColumns).from(invites).where(ownInvite(organization_id, id)),
);

/** For the platform, whose path names an invite of any organization. */
export const inviteById = namedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.select(inviteColumns).from(invites).where(eq(invites.id, id)),
);

/** The active invites. */
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
          isListed,
          // The plus keeps SQLite from the index by expiry: it would sort all invites to show one page.
          gt(sql`+${invites.expires_at}`, now),
        ),
      )
      .orderBy(asc(invites.id))
      .limit(limit)
      .offset(offset),
);

/** How many invites are active: the list's total, less those that have expired since the cron ran. */
export const totalOfInvites = namedQuery(
  ({ organization_id, now }: Placeholders<{ organization_id: number; now: number }>) => {
    const expired = builder
      .select({ count: count() })
      .from(invites)
      .where(and(eq(invites.organization_id, organization_id), isExpiredAndListed(now)));
    return selectTotal(sql<number>`${totalOf("invites", organization_id)} - ${expired}`);
  },
);
