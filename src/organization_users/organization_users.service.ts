import { and, asc, count, eq, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../context.ts";
import { type Rule, type Statement, writeUnderRules } from "../db/rules.ts";
import { organizationUserAssists, organizationUsers, users } from "../db/schema.ts";
import { unprocessable } from "../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../http/pagination.ts";
import { organizationMissing } from "../organizations/organizations.service.ts";
import { hasPersonalRoom } from "../roles.ts";
import { insertPersonalRoom, personalRoomSlug } from "../waiting_rooms/waiting_rooms.service.ts";
import type { CreatedUser, createUserBody, OrganizationUser } from "./organization_users.schemas.ts";

const shown = {
  id: organizationUsers.id,
  user_id: organizationUsers.user_id,
  email: users.email,
  display_name: organizationUsers.display_name,
  roles: organizationUsers.roles,
};

/** Makes the membership, the user where the email is new, and the personal room where the roles call for one. */
export async function createUser(
  { db, now }: Context,
  organization_id: number,
  { email, display_name, roles, assists = [] }: z.output<typeof createUserBody>["user"],
): Promise<CreatedUser> {
  const timestamps = { created_at: now, updated_at: now };
  const user_id = sql<number>`(select id from users where email = ${email})`;
  const membership = sql<number>`(
    select id from organization_users where organization_id = ${organization_id} and user_id = ${user_id})`;
  const assisted = sql`(select distinct value as id from json_each(${JSON.stringify(assists)}))`;

  const rules: Rule[] = [
    organizationMissing(organization_id),
    {
      broken: sql`exists ${membership}`,
      error: unprocessable("user.email: is already a user of the organization"),
    },
    {
      broken: sql`${assists.length > 0 && !roles.includes("provider_assistant")}`,
      error: unprocessable("user.assists: is for those who have the role provider_assistant"),
    },
    {
      broken: sql`exists (
        select 1 from ${assisted} assisted where not exists (
          select 1 from organization_users provider, json_each(provider.roles) role
          where provider.organization_id = ${organization_id} and provider.id = assisted.id
            and role.value = 'provider'))`,
      error: unprocessable("user.assists: must name providers of the organization"),
    },
  ];
  const writes: Statement[] = [
    db
      .insert(users)
      .values({ email, ...timestamps })
      .onConflictDoNothing(),
    db.insert(organizationUsers).values({ organization_id, user_id, display_name, roles, ...timestamps }),
    db
      .insert(organizationUserAssists)
      .select(sql`select ${organization_id}, ${membership}, assisted.id from ${assisted} assisted`),
  ];
  if (hasPersonalRoom(roles))
    writes.push(insertPersonalRoom(db, { organization_id, user_id, name: display_name, now }));
  return writeUnderRules(db, rules, [
    ...writes,
    db
      .select({
        ...shown,
        organization_id: organizationUsers.organization_id,
        waiting_room_slug: personalRoomSlug(
          sql`organization_users.organization_id`,
          sql`organization_users.user_id`,
        ).as("waiting_room_slug"),
      })
      .from(organizationUsers)
      .innerJoin(users, eq(users.id, organizationUsers.user_id))
      .where(eq(organizationUsers.id, membership)),
  ]);
}

/** The organization users that the caller reaches. */
export async function listOrganizationUsers(
  { db, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<OrganizationUser>> {
  const { limit, offset } = pageWindow(page);
  const [[counted], rows] = await db.batch([
    db.select({ total: count() }).from(organizationUsers).where(withinReach(caller)),
    db
      .select(shown)
      .from(organizationUsers)
      .innerJoin(users, eq(users.id, organizationUsers.user_id))
      .where(withinReach(caller))
      .orderBy(asc(organizationUsers.id))
      .limit(limit)
      .offset(offset),
  ]);
  return toPage(page, counted?.total ?? 0, rows);
}

/**
 * SQL that is true for the organization users whose calls the caller reaches: an organization_admin reaches all
 * of its organization, a provider itself, a provider_assistant itself and the providers that it assists.
 */
export function withinReach({ organization_id, organization_user_id, roles }: Caller): SQL | undefined {
  const sameOrganization = eq(organizationUsers.organization_id, organization_id);
  if (roles.includes("organization_admin")) return sameOrganization;
  return and(
    sameOrganization,
    sql`${organizationUsers.id} in (
      select ${organization_user_id}
      union all
      select provider_id from organization_user_assists where assistant_id = ${organization_user_id})`,
  );
}
