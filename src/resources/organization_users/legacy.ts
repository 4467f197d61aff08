// TEMPORARY: for resources that are not yet converted.
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Caller, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import type { Statement } from "../../database/legacy_rules.ts";
import { organizationUsers, users } from "../../database/schema.ts";
import { insertPersonalRoom, personalRoomSlug } from "../waiting_rooms/legacy.ts";

const shown = {
  id: organizationUsers.id,
  user_id: organizationUsers.user_id,
  email: users.email,
  display_name: organizationUsers.display_name,
  roles: organizationUsers.roles,
};

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
