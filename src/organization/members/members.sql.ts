import { and, asc, desc, eq, inArray, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { alias, unionAll } from "drizzle-orm/sqlite-core";
import type { Caller } from "../../context.ts";
import { coalesce, hasValues, scalar } from "../../database/expressions.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { newestId, rowsBy, rowsWhere, selectColumn } from "../../database/selects.ts";
import type { OwnPath } from "../../http/wire.ts";
import { includesRole } from "../roles/roles.sql.ts";
import { organizationUserAssists, organizationUsers } from "./organization_users.table.ts";

const members = alias(organizationUsers, "members");

export interface OfMember {
  organization_id: number;
  user_id: number;
}

export interface OfEmail {
  organization_id: number;
  email: string;
}

/** Determines whose calls a caller reaches. */
export interface Reach {
  organization_id: number;
  organization_user_id: number;
  reaches_everybody: boolean;
}

export function reachOf({ organization_id, organization_user_id, roles }: Caller): Reach {
  return { organization_id, organization_user_id, reaches_everybody: roles.includes("organization_admin") };
}

/** An organization_admin reaches everybody, a provider only itself, a provider_assistant also the providers that it assists. */
export function withinReach(reach: Values<Reach>): SQL | undefined {
  const { organization_id, organization_user_id, reaches_everybody } = reach;
  return and(
    eq(organizationUsers.organization_id, organization_id),
    or(sql`${reaches_everybody}`, isSelfOrAssisted(organization_user_id)),
  );
}

/** One list of ids, so that SQLite looks them up instead of scanning all users. */
function isSelfOrAssisted(organization_user_id: Value<number>): SQL {
  const self = selectColumn(members.id, eq(members.id, organization_user_id));
  const assisted = builder
    .select({ id: organizationUserAssists.provider_id })
    .from(organizationUserAssists)
    .where(eq(organizationUserAssists.assistant_id, organization_user_id));
  return inArray(organizationUsers.id, unionAll(self, assisted));
}

export const reachedMember = rowsWhere(
  organizationUsers,
  { id: organizationUsers.id, roles: organizationUsers.roles },
  (user: Placeholders<Reach & { id: number }>) => and(eq(organizationUsers.id, user.id), withinReach(user)),
);

/** An ended membership keeps its row, without roles. */
export const hasAccount = ({ roles }: { roles: SQLWrapper }): SQL => sql`${roles} <> '[]'`;

/** Repeats the WHERE of the partial index, or SQLite does not use it. */
const hasNoAccount = ({ roles }: { roles: SQLWrapper }): SQL => sql`${roles} = '[]'`;

const memberIf = (condition: SQL) =>
  preparedQuery(({ organization_id, id }: Placeholders<OwnPath>) =>
    selectColumn(organizationUsers.id, hasValues(organizationUsers, { organization_id, id }), condition),
  );

export const userWithAccount = memberIf(hasAccount(organizationUsers));

export const formerMemberById = memberIf(hasNoAccount(organizationUsers));

export const accountIdOf = (organization_id: Value<number>, email: Value<string>) =>
  scalar(selectColumn(members.id, hasValues(members, { organization_id, email }), hasAccount(members)));

export const accountByEmail = preparedQuery(({ organization_id, email }: Placeholders<OfEmail>) =>
  selectColumn(organizationUsers.id, eq(organizationUsers.id, accountIdOf(organization_id, email))),
);

export const newestFormerMember = preparedQuery(({ organization_id, email }: Placeholders<OfEmail>) =>
  selectColumn(
    organizationUsers.id,
    hasValues(organizationUsers, { organization_id, email }),
    hasNoAccount(organizationUsers),
  )
    .orderBy(desc(organizationUsers.id))
    .limit(1),
);

/** null stands for the member that the transaction has just inserted. */
export const writtenMemberId = (id: SQLWrapper) => coalesce(id, scalar(newestId(organizationUsers)));

export const memberOf = (organization_id: Value<number>, user_id: Value<number>) =>
  selectColumn(members.id, hasValues(members, { organization_id, id: user_id }));

/** @param ids a JSON array */
export const selectMembersAmong = (organization_id: Value<number>, ids: Value<string>, condition?: SQL) =>
  selectColumn(
    members.id,
    eq(members.organization_id, organization_id),
    inArray(members.id, jsonValues(ids)),
    condition,
  ).orderBy(asc(members.id));

const membersIf = (condition: SQL) =>
  preparedQuery(({ organization_id, ids }: Placeholders<{ organization_id: number; ids: string }>) =>
    selectMembersAmong(organization_id, ids, condition),
  );

export const accountsAmong = membersIf(hasAccount(members));

export const providersAmong = membersIf(includesRole(members.roles, "provider"));

export const memberById = rowsBy(organizationUsers, { id: organizationUsers.id }, "organization_id", "id");

export const ofOrganization = ({ organization_id }: Placeholders<Pick<Reach, "organization_id">>) =>
  eq(organizationUsers.organization_id, organization_id);

/** For a caller who does not reach everybody. */
export const ofAssistant = (reach: Placeholders<Reach>) =>
  and(ofOrganization(reach), isSelfOrAssisted(reach.organization_user_id));

export const reachedIds = (reach: Placeholders<Reach>) =>
  selectColumn(organizationUsers.id, ofAssistant(reach));
