import { and, asc, eq, getTableColumns, gt, isNull, lte, type SQL, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { selectTotal } from "../../database/legacy_totals.ts";
import { invites } from "../../database/schema.ts";
import { totalOf } from "../../database/totals.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { DAY } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import { membershipOf } from "../organization_users/organization_users.service.ts";
import { assignableRoles } from "../roles/roles.schemas.ts";
import type { Invite, InviteInput } from "./invites.schemas.ts";

export const shown = {
  ...getTableColumns(invites),
  organization_name:
    sql<string>`(select name from organizations where organizations.id = invites.organization_id)`.as(
      "organization_name",
    ),
};

/** The invites that can still be accepted. */
export async function listInvites(
  { db, now, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<Invite>> {
  const listed = and(
    eq(invites.organization_id, caller.organization_id),
    isNull(invites.used_at),
    sql`not ${invites.is_lapsed}`,
    // The plus keeps SQLite from the index by expiry: it would sort all invites to show one page.
    sql`+${invites.expires_at} > ${now}`,
  );
  const { limit, offset } = pageWindow(page);
  const [[counted], rows] = await db.batch([
    selectTotal(db, totalPending(caller.organization_id, now)),
    db.select(shown).from(invites).where(listed).orderBy(asc(invites.id)).limit(limit).offset(offset),
  ]);
  return toPage(page, counted?.total ?? 0, rows);
}

/** Any invite of the organization, used and expired ones too. */
export async function requireInvite({ db, caller }: ClientContext, id: number): Promise<Invite> {
  const invite = await db
    .select(shown)
    .from(invites)
    .where(and(eq(invites.id, id), eq(invites.organization_id, caller.organization_id)))
    .get();
  if (!invite) throw notFound("Invite");
  return invite;
}

/** An expired invite of the same email makes place for the new one. */
export async function createInvite(
  { db, now, caller, settings }: ClientContext,
  { email, display_name, role_names }: InviteInput,
): Promise<Invite> {
  requireAssignable(caller.roles, role_names, "organization_invite.role_names");
  const { organization_id } = caller;
  const ofEmail = and(eq(invites.organization_id, organization_id), eq(invites.email, email));
  return writeUnderRules(
    db,
    [
      {
        broken: sql`exists ${membershipOf(organization_id, email)}`,
        error: unprocessable("organization_invite.email: has an account in the organization"),
      },
      {
        broken: sql`exists (select 1 from ${invites} where ${and(ofEmail, isPending(now))})`,
        error: unprocessable("organization_invite.email: has a pending invite"),
      },
    ],
    [
      db.delete(invites).where(and(ofEmail, isExpired(now))),
      db
        .insert(invites)
        .values({
          organization_id,
          email,
          display_name,
          roles: role_names,
          expires_at: inviteExpiry(settings, now),
          created_at: now,
          updated_at: now,
        })
        .returning(shown),
    ],
  );
}

/** Removes an invite that was not used, expired or not. */
export async function deleteInvite({ db, caller }: ClientContext, id: number) {
  const invite = and(eq(invites.id, id), eq(invites.organization_id, caller.organization_id));
  await writeUnderRules(
    db,
    [
      { broken: sql`not exists (select 1 from ${invites} where ${invite})`, error: notFound("Invite") },
      {
        broken: sql`exists (select 1 from ${invites} where ${invite} and used_at is not null)`,
        error: unprocessable("The invite was used: it cannot be removed"),
      },
    ],
    [db.delete(invites).where(invite).returning({ id: invites.id })],
  );
}

/** SQL that is true for an invite that can still be accepted. */
export function isPending(now: number): SQL | undefined {
  return and(isNull(invites.used_at), gt(invites.expires_at, now));
}

/**
 * The total but for those that have expired since the cron last looked. The plus keeps SQLite from the list's index,
 * in which it would read all of them.
 */
function totalPending(organization_id: number, now: number): SQL<number> {
  return sql`${totalOf("invites", organization_id)} - (
    select count(*) from invites
    where +organization_id = ${organization_id} and expires_at <= ${now} and used_at is null and not is_lapsed)`;
}

/** Keeps what has expired out of the list's total and index, so that a page need not skip it. */
export async function lapseExpiredInvites({ db, now }: Context) {
  await db
    .update(invites)
    .set({ is_lapsed: true })
    .where(and(isExpired(now), sql`not ${invites.is_lapsed}`));
}

/** SQL that is true for an invite that was not used in time. */
export function isExpired(now: number): SQL | undefined {
  return and(isNull(invites.used_at), lte(invites.expires_at, now));
}

export function inviteExpiry(
  { INVITE_VALIDITY_DAYS }: Pick<Settings, "INVITE_VALIDITY_DAYS">,
  now: number,
): number {
  return now + INVITE_VALIDITY_DAYS * DAY;
}

/**
 * A caller assigns roles at or below its own permission level (contract, section "Authentication").
 *
 * @throws ApiError 422 naming the field
 */
export function requireAssignable(callerRoles: readonly Role[], asked: readonly Role[], field: string) {
  const assignable = assignableRoles(callerRoles);
  const above = asked.filter((role) => !assignable.includes(role));
  if (above.length > 0)
    throw unprocessable(
      `${field}: ${above.join(", ")} is above your permission level; you may assign ${assignable.join(", ")}`,
    );
}
