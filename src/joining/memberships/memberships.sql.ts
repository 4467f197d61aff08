import { getTableColumns, inArray, sql } from "drizzle-orm";
import { entriesWhere } from "../../audit/access_logs/access_logs.entries.ts";
import type { Context } from "../../context.ts";
import { hasValues } from "../../database/expressions.ts";
import { insertSelect, jsonRows, jsonValue } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
} from "../../database/queries.ts";
import { deleteBy, rowsWhere, selectColumn } from "../../database/selects.ts";
import { tableWrites } from "../../database/table_writes.ts";
import { turnOffEndpointsOf } from "../../delivery/webhook_endpoints/webhook_endpoints.sql.ts";
import type { OwnPath } from "../../http/wire.ts";
import { revokeClients } from "../../organization/api_clients/api_clients.sql.ts";
import { apiClients } from "../../organization/api_clients/api_clients.table.ts";
import { writtenMemberId } from "../../organization/members/members.sql.ts";
import {
  organizationUserAssists,
  organizationUsers,
} from "../../organization/members/organization_users.table.ts";
import { noLongerAssignable } from "../../organization/roles/roles.policy.ts";
import type { WaitingRoomRow } from "../../rooms/waiting_rooms/waiting_rooms.merge.ts";
import { deleteCodesOf } from "../authorization_codes/authorization_codes.sql.ts";
import { ROW_FAULTS } from "../bulk_invites/bulk_invites.refusals.ts";
import { failRowsSentBy, failRowsTo } from "../bulk_invites/bulk_invites.sql.ts";
import { deleteInvitesMadeBy, deleteInvitesReturning, deletePendingInvites } from "../invites/invites.sql.ts";
import { hasEnded, type Member, type NextMember } from "../organization_users/organization_users.merge.ts";
import { organizationUserColumns } from "../organization_users/organization_users.sql.ts";
import {
  personalRoomOf,
  providePersonalRoom,
  retirePersonalRoom,
} from "../personal_rooms/personal_rooms.sql.ts";

/** The organization user, even if the membership has ended, and the personal room, even if it is retired. */
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
  return (values: Values) => ({ member: member(values), room: room(values) });
}

export const membershipOfId = membershipReads(({ organization_id, id }: Placeholders<OwnPath>) => ({
  organization_id,
  id,
}));

/** Writes a member, and everything that the roles grant or take away. */
export async function membershipWrites(
  context: Context,
  { member, room }: { member: Member | undefined; room: WaitingRoomRow | undefined },
  next: NextMember,
): Promise<BoundQuery<unknown>[]> {
  const { now } = context;
  const written = { organization_id: next.organization_id, id: member?.id ?? null };
  const assists = JSON.stringify(next.assists);
  const isSameAssists = assists === JSON.stringify(member?.assists ?? []);
  return [
    ...(member ? withdrawWork(member, next, now) : []),
    member
      ? memberWrites.update(member, {
          ...member,
          ...next,
          assists_changes: member.assists_changes + (isSameAssists ? 0 : 1),
        })
      : memberWrites.insert(next),
    ...(next.roles.includes("provider")
      ? await providePersonalRoom(room, { ...next, ...written }, now)
      : retirePersonalRoom(room, now)),
    ...(isSameAssists ? [] : [deleteAssists(written), insertAssists({ ...written, assists })]),
  ];
}

/** The id of a new member is null: see `writtenMemberId`. */
interface WrittenMember {
  organization_id: number;
  id: number | null;
}

/** Invites and rows of bulk invites above the new level, and webhook endpoints of a former organization_admin. */
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

const deleteAssists = preparedQuery(({ organization_id, id }: Placeholders<WrittenMember>) =>
  builder
    .delete(organizationUserAssists)
    .where(hasValues(organizationUserAssists, { organization_id, assistant_id: id })),
);

/** `assists` is a JSON array. */
const insertAssists = preparedQuery(
  ({ organization_id, id, assists }: Placeholders<WrittenMember & { assists: string }>) =>
    insertSelect(
      organizationUserAssists,
      { organization_id, assistant_id: writtenMemberId(id), provider_id: jsonValue },
      { from: jsonRows(assists) },
    ),
);

/** Also withdraws what would let the person in again, and ends the assistance that others give to them. */
export function revokeAccess({ id, organization_id, email }: Member, now: number): BoundQuery<unknown>[] {
  const ofEmail = { organization_id, email: email ?? "" };
  return [
    revokeClientsOf({ organization_id, id, now }),
    deleteCodesOf({ organization_id, id, now }),
    deletePendingInvites(ofEmail),
    deleteInvitesReturning({ organization_id, id }),
    ...failRowsTo({ ...ofEmail, now, error: ROW_FAULTS.membershipEnded }),
    touchAssistantsOf({ organization_id, id, now }),
    endAssistanceOf({ organization_id, provider_id: id }),
  ];
}

/** So that each assistant gets an event. */
const touchAssistantsOf = preparedQuery(
  ({ organization_id, id, now }: Placeholders<OwnPath & { now: number }>) => {
    const { assistant_id } = organizationUserAssists;
    const ofProvider = hasValues(organizationUserAssists, { organization_id, provider_id: id });
    return builder
      .update(organizationUsers)
      .set({ assists_changes: sql`${organizationUsers.assists_changes} + 1`, updated_at: now })
      .where(inArray(organizationUsers.id, selectColumn(assistant_id, ofProvider)));
  },
);

const endAssistanceOf = deleteBy(organizationUserAssists, "organization_id", "provider_id");

const revokeClientsOf = preparedQuery(
  ({ organization_id, id, now }: Placeholders<OwnPath & { now: number }>) =>
    revokeClients(hasValues(apiClients, { organization_id, organization_user_id: id }), now),
);

const isWritten = ({ organization_id, id }: Placeholders<WrittenMember>) =>
  hasValues(organizationUsers, { organization_id, id: writtenMemberId(id) });

export const memberEntry = entriesWhere("organization_user", organizationUsers, {
  organization_id: organizationUsers.organization_id,
  organization_user_id: organizationUsers.id,
})(isWritten);

export const userWritten = rowsWhere(organizationUsers, organizationUserColumns, isWritten);
