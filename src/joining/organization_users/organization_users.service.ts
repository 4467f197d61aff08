import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { QUOTAS } from "../../database/enums.ts";
import { isSameRow } from "../../database/merging.ts";
import { requireFirst } from "../../database/queries.ts";
import { readPage } from "../../http/lists.ts";
import type { Page } from "../../http/pagination.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import type { Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { clientsOfUser } from "../../organization/api_clients/api_clients.sql.ts";
import { accountByEmail, providersAmong, reachOf } from "../../organization/members/members.sql.ts";
import { organizationUsers } from "../../organization/members/organization_users.table.ts";
import { organizationNotFound } from "../../organization/organizations/organizations.refusals.ts";
import { listOfOrganization, organizationById } from "../../organization/organizations/organizations.sql.ts";
import { type Author, asAdministrator, asPlatform } from "../../organization/roles/roles.authors.ts";
import { useOfPersonalRoom } from "../../rooms/waiting_rooms/waiting_rooms.sql.ts";
import { deletePendingInvites } from "../invites/invites.sql.ts";
import {
  memberEntry,
  membershipOfId,
  membershipWrites,
  revokeAccess,
  userWritten,
} from "../memberships/memberships.sql.ts";
import * as merge from "./organization_users.merge.ts";
import * as policy from "./organization_users.policy.ts";
import { type MemberField, organizationUserNotFound } from "./organization_users.refusals.ts";
import type * as schemas from "./organization_users.schemas.ts";
import { organizationUserColumns, reachedUser, userListFor } from "./organization_users.sql.ts";

/** Also lists removed users. */
export const listUsers = listOfOrganization(organizationUsers, organizationUserColumns);

export async function listOrganizationUsers(
  { db, caller }: ClientContext,
  { email, role, ...page }: schemas.OrganizationUsersQuery,
): Promise<Page<schemas.OrganizationUser>> {
  const listed = { ...reachOf(caller), email: email ?? null, role: role ?? null };
  return readPage(db, userListFor(listed), listed, page);
}

export const requireOrganizationUser = ({ db, caller }: ClientContext, id: number) =>
  requireFirst(db, reachedUser({ ...reachOf(caller), id }), organizationUserNotFound);

/** The email's pending invite is no longer needed. */
export async function createUser(
  context: Context,
  organization_id: number,
  input: z.output<ReturnType<typeof schemas.createUserBody>>["user"],
): Promise<schemas.OrganizationUser> {
  const { now } = context;
  const person = { organization_id, email: input.email };
  return decideAndWrite(
    context,
    {
      organization: organizationById({ id: organization_id }),
      providers: providersAmong({ organization_id, ids: JSON.stringify(input.assists ?? []) }),
      account: accountByEmail(person),
      ...membershipOfId({ organization_id, id: input.returning_user_id ?? 0 }),
    },
    async ({ organization: [organization], providers, account, member: [member], room: [room] }) => {
      if (!organization) throw organizationNotFound();
      const hasAccount = account.length > 0;
      const next = merge.newMember({ organization_id, hasAccount, member, providers }, input, now);
      const written = { organization_id, id: member?.id ?? null };
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          deletePendingInvites(person),
          userWritten(written),
        ],
        entries: [memberEntry(context, "create", written)],
      };
    },
  );
}

interface MemberAuthor<Known> extends Author<Known> {
  field: MemberField;
  /** @throws ApiError 422. `clients` act as the member. */
  allow(own: Rights, member: merge.Member, next: merge.NextMember, clients: { id: number }[]): void;
}

const asThePlatform = (organization_id: number): MemberAuthor<{ id: number }> => ({
  ...asPlatform(organization_id),
  field: "user",
  allow() {},
});

const asTheClient = ({ caller, requester }: ClientContext, revokesClients = true): MemberAuthor<Rights> => ({
  ...asAdministrator(caller),
  field: "organization_user",
  allow(own, member, next, clients) {
    policy.requireRightsOver(own, member, next);
    policy.requireAdministratorStays(caller, member, next);
    requester.quota = policy.takesOnlyAway(member, next) ? QUOTAS.reserved : QUOTAS.ordinary;
    if (!revokesClients) policy.requireNoClients(clients);
  },
});

export const updateUser = (
  context: Context,
  organization_id: number,
  id: number,
  input: schemas.MemberChanges,
) => changeMember(context, asThePlatform(organization_id), id, input);

export const updateOrganizationUser = (context: ClientContext, id: number, input: schemas.MemberChanges) =>
  changeMember(context, asTheClient(context), id, input);

async function changeMember<Known>(
  context: Context,
  author: MemberAuthor<Known>,
  id: number,
  input: schemas.MemberChanges,
): Promise<schemas.OrganizationUser> {
  const { now } = context;
  const { organization_id, field } = author;
  return decideAndWrite(
    context,
    {
      author: author.read,
      providers: providersAmong({ organization_id, ids: JSON.stringify(input.assists ?? []) }),
      ...membershipOfId({ organization_id, id }),
      uses: useOfPersonalRoom({ organization_id, id }),
      emailOwner: accountByEmail({ organization_id, email: input.email ?? "" }),
    },
    async ({ author: [asking], member: [member], room: [room], ...known }) => {
      const own = author.require(asking);
      if (!member) throw organizationUserNotFound();
      requireUnchanged(context, { organization_id, user_id: id, waiting_room_slug: room?.slug });
      const { providers, uses, emailOwner } = known;
      const isRoomInUse = uses.length > 0;
      const next = merge.mergeMember(
        { member, providers, field, isRoomInUse, emailOwner: emailOwner[0] },
        input,
        now,
      );
      author.allow(own, member, next, []);
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          // A person with an account has no pending invite.
          ...(merge.hasEnded(next) || !input.email
            ? []
            : [deletePendingInvites({ organization_id, email: input.email })]),
          userWritten(member),
        ],
        entries: isSameRow<merge.NextMember>(member, next) ? [] : [memberEntry(context, "update", member)],
      };
    },
  );
}

export const endMembership = (context: Context, organization_id: number, id: number) =>
  removeMember(context, asThePlatform(organization_id), id);

export const removeOrganizationUser = (context: ClientContext, id: number, revokesClients: boolean) =>
  removeMember(context, asTheClient(context, revokesClients), id);

/** Only a new invite or a new creation admits the person again. */
async function removeMember<Known>(context: Context, author: MemberAuthor<Known>, id: number): Promise<void> {
  const { now } = context;
  const { organization_id } = author;
  await decideAndWrite(
    context,
    {
      author: author.read,
      ...membershipOfId({ organization_id, id }),
      clients: clientsOfUser({ organization_id, id }),
    },
    async ({ author: [asking], member: [member], room: [room], clients }) => {
      const own = author.require(asking);
      if (!member || merge.hasEnded(member)) throw organizationUserNotFound();
      const next = merge.formerMember(member, now);
      author.allow(own, member, next, clients);
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          ...revokeAccess(member, now),
          userWritten(member),
        ],
        entries: [memberEntry(context, "delete", member)],
      };
    },
  );
}
