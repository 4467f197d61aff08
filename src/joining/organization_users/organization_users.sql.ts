import { and, asc, eq, getTableColumns, isNull, or, type SQL, sql } from "drizzle-orm";
import type { ListName } from "../../database/database.table.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import { scalar } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isAnyOr, rowsWhere } from "../../database/selects.ts";
import { totalOf } from "../../database/totals.ts";
import { pagedList } from "../../http/lists.ts";
import {
  hasAccount,
  ofAssistant,
  ofOrganization,
  type Reach,
  withinReach,
} from "../../organization/members/members.sql.ts";
import {
  memberHasRole,
  organizationUserAssists,
  organizationUsers,
} from "../../organization/members/organization_users.table.ts";
import { includesRole } from "../../organization/roles/roles.sql.ts";
import { personalRoomSlug } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";

const {
  assists_changes: _,
  created_at: __,
  updated_at: ___,
  ...ownColumns
} = getTableColumns(organizationUsers);

const assistedIds = builder
  .select({
    // Cast to text, because the guard of a decision would see JSON where the row has text.
    ids: sql`cast(json_group_array(${organizationUserAssists.provider_id} order by ${organizationUserAssists.provider_id}) as text)`,
  })
  .from(organizationUserAssists)
  .where(eq(organizationUserAssists.assistant_id, organizationUsers.id));

export const organizationUserColumns = {
  ...ownColumns,
  assists: scalar(assistedIds)
    .mapWith((ids: string): number[] => JSON.parse(ids))
    .as("assists"),
  waiting_room_slug: scalar(personalRoomSlug(organizationUsers.organization_id, organizationUsers.id)).as(
    "waiting_room_slug",
  ),
};

export const reachedUser = rowsWhere(
  organizationUsers,
  organizationUserColumns,
  (user: Placeholders<Reach & { id: number }>) => and(eq(organizationUsers.id, user.id), withinReach(user)),
);

interface ListedUsers extends Reach {
  /** null: any. */
  email: string | null;
  role: Role | null;
}

type Listed = Placeholders<ListedUsers>;

const hasRole = ({ role }: Listed) => or(isNull(role), includesRole(organizationUsers.roles, role));

/* Not a single query with flags: SQLite would read all members to find the few that a caller assists. */

const userList = (condition: (listed: Listed) => SQL | undefined) =>
  pagedList(organizationUsers, organizationUserColumns, [asc(organizationUsers.id)], condition);

/** Triggers maintain it. */
const keptTotal = (list: ListName) =>
  preparedQuery(({ organization_id }: Listed) =>
    builder.select({ total: totalOf(list, organization_id).as("total") }).from(sql`(select 1)`),
  );

const everybody = { ...userList(ofOrganization), total: keptTotal("organization_users") };

const everybodyWithRole = new Map(
  ROLES.map((role) => {
    const list = userList((listed) =>
      and(ofOrganization(listed), memberHasRole(organizationUsers.roles, role)),
    );
    return [role, { ...list, total: keptTotal(`organization_users:${role}`) }];
  }),
);

const everybodyWithEmail = userList((listed) =>
  and(
    ofOrganization(listed),
    eq(organizationUsers.email, listed.email),
    hasAccount(organizationUsers),
    hasRole(listed),
  ),
);

const selfAndAssisted = userList((listed) =>
  and(ofAssistant(listed), isAnyOr(listed.email, organizationUsers.email), hasRole(listed)),
);

export function userListFor({ reaches_everybody, email, role }: ListedUsers): typeof everybody {
  if (!reaches_everybody) return selfAndAssisted;
  if (email !== null) return everybodyWithEmail;
  return (role && everybodyWithRole.get(role)) ?? everybody;
}
