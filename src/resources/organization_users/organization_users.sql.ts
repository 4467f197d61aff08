import { and, eq, gt, inArray, not, notExists, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import { insertSelect } from "../../database/insert.ts";
import { builder, type Statement, type Value, type Values } from "../../database/queries.ts";
import { organizationUserAssists, organizationUsers, users } from "../../database/schema.ts";
import { includesRole } from "../roles/roles.sql.ts";
import { insertPersonalRoom, retirePersonalRoom } from "../waiting_rooms/waiting_rooms.personal.ts";
import { personalRoomSlug } from "../waiting_rooms/waiting_rooms.sql.ts";

const members = alias(organizationUsers, "members");

export const organizationUserColumns = {
  id: organizationUsers.id,
  user_id: organizationUsers.user_id,
  email: users.email,
  display_name: organizationUsers.display_name,
  roles: organizationUsers.roles,
};

export const createdUserColumns = {
  ...organizationUserColumns,
  organization_id: organizationUsers.organization_id,
  waiting_room_slug: sql<
    string | null
  >`${personalRoomSlug(organizationUsers.organization_id, organizationUsers.user_id)}`.as(
    "waiting_room_slug",
  ),
};

const assistedIds = builder
  .select({
    ids: sql`json_group_array(${organizationUserAssists.provider_id} order by ${organizationUserAssists.provider_id})`,
  })
  .from(organizationUserAssists)
  .where(eq(organizationUserAssists.assistant_id, organizationUsers.id));

/** What the platform door shows of a member: the columns of a creation, and the ids of whom the member assists. */
export const userColumns = {
  ...createdUserColumns,
  assists: sql`${assistedIds}`.mapWith((ids: string): number[] => JSON.parse(ids)).as("assists"),
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
export function withinReach(reach: Values<Reach>): SQL | undefined {
  const { organization_id, organization_user_id, reaches_everybody } = reach;
  return and(
    eq(organizationUsers.organization_id, organization_id),
    or(sql`${reaches_everybody}`, isSelfOrAssisted(organization_user_id)),
  );
}

/**
 * True for this organization user and for the providers that it assists. As one list of ids, so that SQLite looks
 * them up and does not go through everybody.
 */
export function isSelfOrAssisted(organization_user_id: Value<number>): SQL {
  const self = builder.select({ id: members.id }).from(members).where(eq(members.id, organization_user_id));
  const assisted = builder
    .select({ id: organizationUserAssists.provider_id })
    .from(organizationUserAssists)
    .where(eq(organizationUserAssists.assistant_id, organization_user_id));
  return inArray(organizationUsers.id, unionAll(self, assisted));
}

/** True for a row whose membership has not ended. One that has ended keeps its row, without roles. */
export const hasAccount = ({ roles }: { roles: SQLWrapper }): SQL => sql`${roles} <> '[]'`;

const memberWithEmail = (
  organization_id: Value<number>,
  email: Value<string>,
  condition?: SQL,
): SQL<number> =>
  sql`${builder
    .select({ id: members.id })
    .from(members)
    .innerJoin(users, eq(users.id, members.user_id))
    .where(and(eq(members.organization_id, organization_id), eq(users.email, email), condition))}`;

/** The id of the organization user with this email, also of one whose membership has ended; null where there is none. */
export const membershipOf = (organization_id: Value<number>, email: Value<string>): SQL<number> =>
  memberWithEmail(organization_id, email);

/** The id of the organization user with this email who has an account; null where there is none. */
export const accountOf = (organization_id: Value<number>, email: Value<string>): SQL<number> =>
  memberWithEmail(organization_id, email, hasAccount(members));

/** The id of the organization user with this email whose membership ended after this time; null where there is none. */
export const membershipEndedAfter = (
  organization_id: Value<number>,
  email: Value<string>,
  time: SQLWrapper,
): SQL<number> =>
  memberWithEmail(organization_id, email, and(not(hasAccount(members)), gt(members.updated_at, time)));

/** Selects a membership by user_id: nothing where the user is not of the organization. */
export const memberOf = (organization_id: Value<number>, user_id: Value<number>) =>
  builder
    .select({ id: members.id })
    .from(members)
    .where(and(eq(members.organization_id, organization_id), eq(members.user_id, user_id)));

/** Somebody who becomes a user of an organization, as values of statements. */
export interface NewMember {
  organization_id: Value<number>;
  email: Value<string>;
  display_name: Value<string>;
  /** As JSON text. */
  roles: Value<string>;
  /** The display name in kebab case, for the slug of a personal room. */
  slug_name: Value<string>;
  now: Value<number>;
}

/**
 * The statements that make the membership, the user where the email is new, and the personal room where the roles
 * call for one. An existing member keeps their account and gains the roles. Somebody whose membership has ended is the
 * same organization user again, with the new name and roles.
 */
export function joinOrganization(member: NewMember): Statement[] {
  const { organization_id, email, display_name, roles, slug_name, now } = member;
  const timestamps = { created_at: now, updated_at: now };
  const userOfEmail = builder.select({ id: users.id }).from(users).where(eq(users.email, email));
  const combinedRoles = sql`(
    select json_group_array(role.value order by role.key) from json_each(${JSON.stringify(ROLES)}) as role
    where role.value in (select held.value from json_each(${organizationUsers.roles}) as held)
      or role.value in (select gained.value from json_each(${roles}) as gained))`;
  return [
    insertSelect(users, { email, ...timestamps }, sql`where ${notExists(userOfEmail)}`),
    insertSelect(
      organizationUsers,
      { organization_id, user_id: users.id, display_name, roles: sql`${roles}`, ...timestamps },
      sql`from ${users} where ${eq(users.email, email)}`,
    ).onConflictDoUpdate({
      target: [organizationUsers.organization_id, organizationUsers.user_id],
      set: {
        display_name: sql`iif(${hasAccount(organizationUsers)}, ${organizationUsers.display_name}, ${display_name})`,
        roles: combinedRoles,
        updated_at: sql`${now}`,
      },
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

/**
 * The statements that take from a member what goes with roles that the member has no longer: the personal room, and
 * whom the member assists. Its own assistants keep their access to its calls.
 */
export function dropWhatRolesGave(member: {
  organization_id: Value<number>;
  id: Value<number>;
  now: Value<number>;
}): Statement[] {
  const { organization_id, id, now } = member;
  const without = (role: Role) =>
    and(
      eq(organizationUsers.organization_id, organization_id),
      eq(organizationUsers.id, id),
      not(includesRole(organizationUsers.roles, role)),
    );
  const owner = builder
    .select({ user_id: organizationUsers.user_id })
    .from(organizationUsers)
    .where(without("provider"));
  const formerAssistant = builder
    .select({ id: organizationUsers.id })
    .from(organizationUsers)
    .where(without("provider_assistant"));
  return [
    ...retirePersonalRoom({ organization_id, owner, now }),
    builder.delete(organizationUserAssists).where(eq(organizationUserAssists.assistant_id, formerAssistant)),
  ];
}

/** Selects the member with this email, with what a creation returns. */
export const createdUser = (organization_id: Value<number>, email: Value<string>) =>
  builder
    .select(createdUserColumns)
    .from(organizationUsers)
    .innerJoin(users, eq(users.id, organizationUsers.user_id))
    .where(eq(organizationUsers.id, membershipOf(organization_id, email)));
