import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { ROLES } from "../../database/enums.ts";
import { builder, type Statement, type Value } from "../../database/queries.ts";
import { organizationUserAssists, organizationUsers, users } from "../../database/schema.ts";
import { insertPersonalRoom, personalRoomSlug } from "../waiting_rooms/waiting_rooms.sql.ts";

export const organizationUserColumns = {
  id: organizationUsers.id,
  user_id: organizationUsers.user_id,
  email: users.email,
  display_name: organizationUsers.display_name,
  roles: organizationUsers.roles,
};

/** Whose calls a caller reaches, as values of a query. */
export interface Reach {
  organization_id: number;
  organization_user_id: number;
  reaches_everybody: boolean;
}

export function reachOf({ organization_id, organization_user_id, roles }: Caller): Reach {
  return { organization_id, organization_user_id, reaches_everybody: roles.includes("organization_admin") };
}

/**
 * True for the organization users whose calls the caller reaches: an organization_admin reaches all of its
 * organization, a provider itself, a provider_assistant itself and the providers that it assists.
 */
export function withinReach(reach: { [Name in keyof Reach]: Value<Reach[Name]> }): SQL | undefined {
  const { organization_id, organization_user_id, reaches_everybody } = reach;
  const assisted = builder
    .select({ id: organizationUserAssists.provider_id })
    .from(organizationUserAssists)
    .where(eq(organizationUserAssists.assistant_id, organization_user_id));
  return and(
    eq(organizationUsers.organization_id, organization_id),
    or(
      sql`${reaches_everybody}`,
      eq(organizationUsers.id, organization_user_id),
      inArray(organizationUsers.id, assisted),
    ),
  );
}

/** The id of the organization user with this email; null where there is none. */
export function membershipOf(organization_id: Value<number>, email: Value<string>): SQL<number> {
  return sql`${builder
    .select({ id: member.id })
    .from(member)
    .innerJoin(users, eq(users.id, member.user_id))
    .where(and(eq(member.organization_id, organization_id), eq(users.email, email)))}`;
}

const member = alias(organizationUsers, "member");

/** Selects a membership by user_id: nothing where the user is not of the organization. */
export const memberOf = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select({ id: member.id })
    .from(member)
    .where(and(eq(member.organization_id, organization_id), eq(member.user_id, user_id)));

/** Somebody who becomes a member: `roles` is JSON text, `slug_name` the display name in kebab case. */
export interface NewMember {
  organization_id: Value<number>;
  email: Value<string>;
  display_name: Value<string>;
  roles: Value<string>;
  slug_name: Value<string>;
  now: Value<number>;
}

/**
 * The statements that make the membership, the user where the email is new, and the personal room where the roles
 * call for one. An existing member keeps their account and gains the roles.
 */
export function joinOrganization(member: NewMember): Statement[] {
  const { organization_id, email, display_name, roles, slug_name, now } = member;
  const timestamps = { created_at: sql`${now}`, updated_at: sql`${now}` };
  const excluded = alias(organizationUsers, "excluded");
  const gained = sql`(
    select json_group_array(role.value order by role.key) from json_each(${JSON.stringify(ROLES)}) as role
    where role.value in (select value from json_each(${organizationUsers.roles}))
      or role.value in (select value from json_each(${excluded.roles})))`;
  const user = builder.select({ id: users.id }).from(users).where(eq(users.email, email));
  return [
    builder
      .insert(users)
      .values({ email: sql`${email}`, ...timestamps })
      .onConflictDoNothing(),
    builder
      .insert(organizationUsers)
      .values({
        organization_id: sql`${organization_id}`,
        user_id: sql`${user}`,
        display_name: sql`${display_name}`,
        roles: sql`${roles}`,
        ...timestamps,
      })
      .onConflictDoUpdate({
        target: [organizationUsers.organization_id, organizationUsers.user_id],
        set: { roles: gained, updated_at: sql`${now}` },
      }),
    insertPersonalRoom({
      organization_id,
      member: membershipOf(organization_id, email),
      name: display_name,
      slug_name,
      now,
    }),
  ];
}

const createdUserColumns = {
  ...organizationUserColumns,
  organization_id: organizationUsers.organization_id,
  waiting_room_slug: sql<
    string | null
  >`${personalRoomSlug(organizationUsers.organization_id, organizationUsers.user_id)}`.as(
    "waiting_room_slug",
  ),
};

/** The user as it is shown to those who make one. */
export const createdUser = (organization_id: Value<number>, email: Value<string>) =>
  builder
    .select(createdUserColumns)
    .from(organizationUsers)
    .innerJoin(users, eq(users.id, organizationUsers.user_id))
    .where(eq(organizationUsers.id, membershipOf(organization_id, email)));
