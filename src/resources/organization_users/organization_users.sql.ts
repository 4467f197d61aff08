import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { builder, type Value } from "../../database/queries.ts";
import { organizationUserAssists, organizationUsers, users } from "../../database/schema.ts";

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
