import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  not,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { hasValues, scalar } from "../../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { organizationUserAssists, organizationUsers } from "../../database/schema.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { pagedList } from "../../http/lists.ts";
import type { OwnPath } from "../../http/wire.ts";
import { personalRoomSlug } from "../waiting_rooms/waiting_rooms.sql.ts";

const members = alias(organizationUsers, "members");

const { created_at: _, updated_at: __, ...ownColumns } = getTableColumns(organizationUsers);

const assistedIds = builder
  .select({
    // As text, or the guard of a decision would see JSON where the row has text.
    ids: sql`cast(json_group_array(${organizationUserAssists.provider_id} order by ${organizationUserAssists.provider_id}) as text)`,
  })
  .from(organizationUserAssists)
  .where(eq(organizationUserAssists.assistant_id, organizationUsers.id));

export const organizationUserColumns = {
  ...ownColumns,
  /** The ids of whom the member assists. */
  assists: scalar(assistedIds)
    .mapWith((ids: string): number[] => JSON.parse(ids))
    .as("assists"),
  /** Of the personal room; null where there is none. */
  waiting_room_slug: scalar(personalRoomSlug(organizationUsers.organization_id, organizationUsers.id)).as(
    "waiting_room_slug",
  ),
};

/** Whose something is, as values of a query. */
export interface OfMember {
  organization_id: number;
  user_id: number;
}

/** The same of somebody who may be no member yet. */
export interface OfEmail {
  organization_id: number;
  email: string;
}

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
function isSelfOrAssisted(organization_user_id: Value<number>): SQL {
  const self = selectColumn(members.id, eq(members.id, organization_user_id));
  const assisted = builder
    .select({ id: organizationUserAssists.provider_id })
    .from(organizationUserAssists)
    .where(eq(organizationUserAssists.assistant_id, organization_user_id));
  return inArray(organizationUsers.id, unionAll(self, assisted));
}

/** The organization user of this id, where the caller reaches it. */
export const reachedUser = preparedQuery((user: Placeholders<Reach & { id: number }>) =>
  builder
    .select(organizationUserColumns)
    .from(organizationUsers)
    .where(and(eq(organizationUsers.id, user.id), withinReach(user))),
);

/** True for a row whose membership has not ended. One that has ended keeps its row, without roles. */
export const hasAccount = ({ roles }: { roles: SQLWrapper }): SQL => sql`${roles} <> '[]'`;

/** The user of the organization, unless the membership has ended. */
export const userWithAccount = preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
  selectColumn(
    organizationUsers.id,
    hasValues(organizationUsers, { organization_id, id }),
    hasAccount(organizationUsers),
  ),
);

const memberWithEmail = (organization_id: Value<number>, email: Value<string>, condition?: SQL) =>
  scalar(selectColumn(members.id, hasValues(members, { organization_id, email }), condition));

/** The id of the organization user with this email, also of one whose membership has ended; null where there is none. */
export const memberIdOf = (organization_id: Value<number>, email: Value<string>) =>
  memberWithEmail(organization_id, email);

/** The id of the organization user with this email who has an account; null where there is none. */
export const accountIdOf = (organization_id: Value<number>, email: Value<string>) =>
  memberWithEmail(organization_id, email, hasAccount(members));

/** The id of the organization user with this email whose membership ended after this time; null where there is none. */
export const membershipEndedAfter = (
  organization_id: Value<number>,
  email: Value<string>,
  time: SQLWrapper,
) => memberWithEmail(organization_id, email, and(not(hasAccount(members)), gt(members.updated_at, time)));

/** Selects the id of an organization user: nothing where there is none of this organization. */
export const memberOf = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(members.id, hasValues(members, { organization_id, id: user_id }));

/**
 * Selects the ids of those who are organization users.
 *
 * @param ids a JSON array
 */
export const selectMembersAmong = (organization_id: Value<number>, ids: Value<string>, condition?: SQL) =>
  selectColumn(
    members.id,
    eq(members.organization_id, organization_id),
    inArray(members.id, jsonValues(ids)),
    condition,
  ).orderBy(asc(members.id));

/** Those of them who have an account. */
export const accountsAmong = preparedQuery((of: Placeholders<{ organization_id: number; ids: string }>) =>
  selectMembersAmong(of.organization_id, of.ids, hasAccount(members)),
);

export const memberById = rowsBy(organizationUsers, { id: organizationUsers.id }, "organization_id", "id");

/*
 * Two lists, not one with a flag in its condition: for that, SQLite would read all members of an organization to find
 * the few that somebody assists.
 */

const ofOrganization = ({ organization_id }: Pick<Placeholders<Reach>, "organization_id">) =>
  eq(organizationUsers.organization_id, organization_id);

const ofAssistant = (reach: Placeholders<Reach>) =>
  and(ofOrganization(reach), isSelfOrAssisted(reach.organization_user_id));

/** Selects the ids of those whom somebody reaches who does not reach everybody. */
export const reachedIds = (reach: Placeholders<Reach>) =>
  selectColumn(organizationUsers.id, ofAssistant(reach));

const listOfUsers = (condition: typeof ofAssistant) =>
  pagedList(organizationUsers, organizationUserColumns, [asc(organizationUsers.id)], condition);

export const everybody = {
  ...listOfUsers(ofOrganization),
  total: preparedQuery(({ organization_id }: Placeholders<Reach>) =>
    builder
      .select({ total: totalOf("organization_users", organization_id).as("total") })
      .from(sql`(select 1)`),
  ),
};

export const selfAndAssisted = listOfUsers(ofAssistant);
