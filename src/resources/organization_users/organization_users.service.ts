import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { type Rule, type Statement, writeUnderRules } from "../../database/legacy_rules.ts";
import { selectTotal } from "../../database/legacy_totals.ts";
import { organizationUserAssists, organizationUsers, users } from "../../database/schema.ts";
import { totalOf } from "../../database/totals.ts";
import { unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { organizationMissing } from "../organizations/organizations.service.ts";
import { insertPersonalRoom, personalRoomSlug } from "../waiting_rooms/legacy.ts";
import type { CreatedUser, createUserBody, OrganizationUser } from "./organization_users.schemas.ts";

const shown = {
  id: organizationUsers.id,
  user_id: organizationUsers.user_id,
  email: users.email,
  display_name: organizationUsers.display_name,
  roles: organizationUsers.roles,
};

/** Makes somebody a user of the organization. */
export async function createUser(
  context: Context,
  organization_id: number,
  { email, display_name, roles, assists = [] }: z.output<typeof createUserBody>["user"],
): Promise<CreatedUser> {
  const { db } = context;
  const assisted = sql`(select distinct value as id from json_each(${JSON.stringify(assists)}))`;
  const rules: Rule[] = [
    organizationMissing(organization_id),
    {
      broken: sql`exists ${membershipOf(organization_id, email)}`,
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
  return writeUnderRules(db, rules, [
    ...joinOrganization(context, { organization_id, email, display_name, roles }),
    insertFrom(db, organizationUserAssists, sql`from ${assisted} assisted`, [], {
      organization_id,
      assistant_id: membershipOf(organization_id, email),
      provider_id: sql`assisted.id`,
    }),
    selectCreatedUser(db, organization_id, email),
  ]);
}

/**
 * The statements that make the membership, the user where the email is new, and the personal room where the roles
 * call for one. Who is a member already keeps all that, and gains the roles.
 */
export function joinOrganization(
  { db, now }: Context,
  { organization_id, email, display_name, roles }: NewMember,
): Statement[] {
  const timestamps = { created_at: now, updated_at: now };
  const gained = sql`(
    select json_group_array(role.value order by role.key) from json_each(${JSON.stringify(ROLES)}) role
    where role.value in (select value from json_each(organization_users.roles))
      or role.value in (select value from json_each(excluded.roles)))`;
  return [
    db
      .insert(users)
      .values({ email, ...timestamps })
      .onConflictDoNothing(),
    db
      .insert(organizationUsers)
      .values({ organization_id, user_id: userOf(email), display_name, roles, ...timestamps })
      .onConflictDoUpdate({
        target: [organizationUsers.organization_id, organizationUsers.user_id],
        set: { roles: gained, updated_at: now },
      }),
    insertPersonalRoom(db, now, {
      member: membershipOf(organization_id, email),
      organization_id,
      name: display_name,
    }),
  ];
}

interface NewMember {
  organization_id: number;
  email: string;
  display_name: string;
  roles: Role[];
}

export function selectCreatedUser(db: Database, organization_id: number, email: string) {
  return db
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
    .where(eq(organizationUsers.id, membershipOf(organization_id, email)));
}

const userOf = (email: string | SQL) =>
  sql<number>`(select users.id from users where users.email = ${email})`;

/** SQL for the id of the organization user who has this email; null where there is none. */
export function membershipOf(organization_id: number | SQL, email: string | SQL): SQL<number> {
  return sql`(
    select member.id from organization_users member
    where member.organization_id = ${organization_id} and member.user_id = ${userOf(email)})`;
}

/** The organization users that the caller reaches. */
export async function listOrganizationUsers(
  { db, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<OrganizationUser>> {
  const { limit, offset } = pageWindow(page);
  const [[counted], rows] = await db.batch([
    selectTotal(
      db,
      caller.roles.includes("organization_admin")
        ? totalOf("organization_users", caller.organization_id)
        : sql`(select count(*) from ${organizationUsers} where ${withinReach(caller)})`,
    ),
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

/** SQL that is true where a `report` names, by user_id, nobody of its organization. */
export const namesNoMember = sql`report.user_id is not null and not exists (
  select 1 from organization_users member
  where member.organization_id = report.organization_id and member.user_id = report.user_id)`;
