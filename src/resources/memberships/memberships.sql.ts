import { asc, eq, getTableColumns, inArray } from "drizzle-orm";
import type { Context } from "../../context.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
} from "../../database/queries.ts";
import { apiClients, organizationUserAssists, organizationUsers } from "../../database/schema.ts";
import { rowsBy, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import type { OwnPath } from "../../http/wire.ts";
import { entriesWhere } from "../access_logs/access_logs.entries.ts";
import { revokeClients } from "../api_clients/api_clients.sql.ts";
import { deleteCodesOf } from "../authorization_codes/authorization_codes.sql.ts";
import { ROW_FAULTS } from "../bulk_invites/bulk_invites.refusals.ts";
import { failRowsSentBy } from "../bulk_invites/bulk_invites.sql.ts";
import { deleteInvitesMadeBy, deletePendingInvites } from "../invites/invites.sql.ts";
import { hasEnded, type Member, type NextMember } from "../organization_users/organization_users.merge.ts";
import {
  memberIdOf,
  type OfEmail,
  organizationUserColumns,
} from "../organization_users/organization_users.sql.ts";
import {
  personalRoomOf,
  providePersonalRoom,
  retirePersonalRoom,
} from "../personal_rooms/personal_rooms.sql.ts";
import { noLongerAssignable } from "../roles/roles.policy.ts";
import { includesRole } from "../roles/roles.sql.ts";
import type { WaitingRoomRow } from "../waiting_rooms/waiting_rooms.merge.ts";
import { turnOffEndpointsOf } from "../webhook_endpoints/webhook_endpoints.sql.ts";

/**
 * Makes the reads on which a membership is decided: the organization user, also one whose membership has ended, and the
 * personal room, also one that is retired.
 *
 * @param memberOf whose membership it is, from the values of the reads
 */
export function membershipReads<Values extends object>(
  memberOf: (values: Placeholders<Values>) => { organization_id: Value<number>; id: Value<number> },
) {
  const member = preparedQuery((values: Placeholders<Values>) => {
    const { organization_id, id } = memberOf(values);
    return builder
      .select({ ...getTableColumns(organizationUsers), assists: organizationUserColumns.assists })
      .from(organizationUsers)
      .where(hasValues(organizationUsers, { organization_id, id }));
  });
  const room = preparedQuery((values: Placeholders<Values>) => {
    const { organization_id, id } = memberOf(values);
    return personalRoomOf(organization_id, id);
  });
  return (values: Values) => [member(values), room(values)] as const;
}

export const membershipOfId = membershipReads(({ organization_id, id }: Placeholders<OwnPath>) => ({
  organization_id,
  id,
}));

export const membershipOfEmail = membershipReads(({ organization_id, email }: Placeholders<OfEmail>) => ({
  organization_id,
  id: memberIdOf(organization_id, email),
}));

/**
 * Those of the ids that are providers of the organization.
 *
 * @param ids a JSON array
 */
export const providersAmong = preparedQuery(
  ({ organization_id, ids }: Placeholders<{ organization_id: number; ids: string }>) =>
    selectColumn(
      organizationUsers.id,
      eq(organizationUsers.organization_id, organization_id),
      inArray(organizationUsers.id, jsonValues(ids)),
      includesRole(organizationUsers.roles, "provider"),
    ).orderBy(asc(organizationUsers.id)),
);

/** The statements that write a member, and all that comes and goes with the roles. */
export async function membershipWrites(
  context: Context,
  { member, room }: { member: Member | undefined; room: WaitingRoomRow | undefined },
  next: NextMember,
): Promise<BoundQuery<unknown>[]> {
  const { now } = context;
  const { organization_id, email } = next;
  const assists = JSON.stringify(next.assists);
  return [
    ...(member ? withdrawWork(member, next, now) : []),
    member ? memberWrites.update(member, { ...member, ...next }) : memberWrites.insert(next),
    ...(next.roles.includes("provider")
      ? await providePersonalRoom(room, next, now)
      : retirePersonalRoom(room, now)),
    ...(assists === JSON.stringify(member?.assists ?? [])
      ? []
      : [deleteAssists({ organization_id, email }), insertAssists({ organization_id, email, assists })]),
  ];
}

/**
 * The statements after which nothing is left to happen that the member had asked for, and may not ask for any more: invites
 * and rows of bulk invites above the new level, and endpoints of somebody who is no organization_admin.
 */
function withdrawWork(member: Member, next: NextMember, now: number): BoundQuery<unknown>[] {
  const { organization_id, id: user_id } = member;
  const lost = noLongerAssignable(member.roles, next.roles);
  if (lost.length === 0) return [];
  const work = { organization_id, user_id, roles: JSON.stringify(lost) };
  const error = hasEnded(next) ? ROW_FAULTS.creatorRemoved : ROW_FAULTS.creatorBelow;
  return [
    deleteInvitesMadeBy(work),
    ...failRowsSentBy({ ...work, now, error }),
    ...(lost.includes("organization_admin") ? [turnOffEndpointsOf({ organization_id, user_id, now })] : []),
  ];
}

const memberWrites = tableWrites(organizationUsers, { id: organizationUsers.id });

const deleteAssists = preparedQuery(({ organization_id, email }: Placeholders<OfEmail>) =>
  builder
    .delete(organizationUserAssists)
    .where(eq(organizationUserAssists.assistant_id, memberIdOf(organization_id, email))),
);

/** @param assists the ids as a JSON array */
const insertAssists = preparedQuery(
  ({ organization_id, email, assists }: Placeholders<OfEmail & { assists: string }>) =>
    insertSelect(
      organizationUserAssists,
      { organization_id, assistant_id: memberIdOf(organization_id, email), provider_id: jsonValue },
      { from: jsonRows(assists) },
    ),
);

/** The statements after which a former member cannot get in, neither with existing credentials, nor by an invite. */
export const revokeAccess = ({ id, organization_id, email }: Member, now: number): BoundQuery<unknown>[] => [
  revokeClientsOf({ organization_id, id, now }),
  deleteCodesOf({ organization_id, id, now }),
  deletePendingInvites({ organization_id, email }),
];

const revokeClientsOf = preparedQuery(
  ({ organization_id, id, now }: Placeholders<OwnPath & { now: number }>) =>
    revokeClients(hasValues(apiClients, { organization_id, organization_user_id: id }), now),
);

/** The entry of the access log about the member with this email. */
export const memberEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(({ organization_id, email }: Placeholders<OfEmail>) =>
  hasValues(organizationUsers, { organization_id, email }),
);

/** The member as the platform API returns it. */
export const userByEmail = rowsBy(organizationUsers, organizationUserColumns, "organization_id", "email");
