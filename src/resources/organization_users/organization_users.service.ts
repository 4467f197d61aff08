import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import type { Role } from "../../database/enums.ts";
import { isSameRow } from "../../database/merging.ts";
import { requireFirst } from "../../database/queries.ts";
import { organizationUsers } from "../../database/schema.ts";
import { readPage } from "../../http/lists.ts";
import type { Page, PageQuery } from "../../http/pagination.ts";
import { clientsOfUser } from "../api_clients/api_clients.sql.ts";
import { deletePendingInvites } from "../invites/invites.sql.ts";
import {
  memberEntry,
  membershipOfEmail,
  membershipOfId,
  membershipWrites,
  providersAmong,
  revokeAccess,
  userByEmail,
} from "../memberships/memberships.sql.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { listOfOrganization, organizationById } from "../organizations/organizations.sql.ts";
import { type Author, asAdministrator, asPlatform } from "../roles/roles.authors.ts";
import { useOfPersonalRoom } from "../waiting_rooms/waiting_rooms.sql.ts";
import {
  formerMember,
  hasEnded,
  type Member,
  mergeMember,
  type NextMember,
  newMember,
} from "./organization_users.merge.ts";
import { requireAdministratorStays, requireNoClients } from "./organization_users.policy.ts";
import { type MemberField, organizationUserNotFound } from "./organization_users.refusals.ts";
import type { createUserBody, MemberChanges, OrganizationUser } from "./organization_users.schemas.ts";
import {
  everybody,
  organizationUserColumns,
  reachedUser,
  reachOf,
  selfAndAssisted,
} from "./organization_users.sql.ts";

/** All users of an organization, removed ones too. */
export const listUsers = listOfOrganization(organizationUsers, organizationUserColumns);

/** The organization users that the caller reaches. */
export async function listOrganizationUsers(
  { db, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<OrganizationUser>> {
  const reach = reachOf(caller);
  const list = reach.reaches_everybody ? everybody : selfAndAssisted;
  return readPage(db, list, reach, page);
}

export const requireOrganizationUser = (
  { db, caller }: ClientContext,
  id: number,
): Promise<OrganizationUser> =>
  requireFirst(db, reachedUser({ ...reachOf(caller), id }), organizationUserNotFound);

/** Makes somebody a user of the organization, who then needs no invite any more. */
export async function createUser(
  context: Context,
  organization_id: number,
  input: z.output<ReturnType<typeof createUserBody>>["user"],
): Promise<OrganizationUser> {
  const { db, now } = context;
  const person = { organization_id, email: input.email };
  return decideAndWrite(
    db,
    [
      organizationById({ id: organization_id }),
      providersAmong({ organization_id, ids: JSON.stringify(input.assists ?? []) }),
      ...membershipOfEmail(person),
    ],
    async ([organization], providers, [member], [room]) => {
      if (!organization) throw organizationNotFound();
      const next = newMember({ organization_id, member, providers }, input, now);
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          deletePendingInvites(person),
          userByEmail(person),
        ],
        entries: [memberEntry(context, "create", person)],
      };
    },
  );
}

/** Who asks for a change of a member, and what they may change. */
interface MemberAuthor<Known> extends Author<Known> {
  /** The field of their request that holds the member. */
  field: MemberField;
  /** @throws ApiError if they may not make this of the member, as whom the clients act */
  allow(member: Member, next: NextMember, clients: { id: number }[]): void;
}

const asThePlatform = (organization_id: number): MemberAuthor<{ id: number }> => ({
  ...asPlatform(organization_id),
  field: "user",
  allow() {},
});

const asTheClient = (caller: Caller, revokesClients = true): MemberAuthor<{ roles: Role[] }> => ({
  ...asAdministrator(caller, organizationUserNotFound),
  field: "organization_user",
  allow(member, next, clients) {
    requireAdministratorStays(caller, member, next);
    if (!revokesClients) requireNoClients(clients);
  },
});

export const updateUser = (context: Context, organization_id: number, id: number, input: MemberChanges) =>
  changeMember(context, asThePlatform(organization_id), id, input);

export const updateOrganizationUser = (context: ClientContext, id: number, input: MemberChanges) =>
  changeMember(context, asTheClient(context.caller), id, input);

/** Changes a member. Roles that are gained or lost bring or take what goes with them. */
async function changeMember<Known>(
  context: Context,
  author: MemberAuthor<Known>,
  id: number,
  input: MemberChanges,
): Promise<OrganizationUser> {
  const { db, now } = context;
  const { organization_id, field } = author;
  return decideAndWrite(
    db,
    [
      author.read,
      providersAmong({ organization_id, ids: JSON.stringify(input.assists ?? []) }),
      ...membershipOfId({ organization_id, id }),
      useOfPersonalRoom({ organization_id, id }),
    ],
    async ([known], providers, [found], [room], use) => {
      author.require(known);
      const member = requireMember(found);
      const next = mergeMember({ member, providers, field, isRoomInUse: use.length > 0 }, input, now);
      author.allow(member, next, []);
      return {
        writes: [...(await membershipWrites(context, { member, room }, next)), userByEmail(next)],
        entries: isSameRow<NextMember>(member, next) ? [] : [memberEntry(context, "update", member)],
      };
    },
  );
}

export const endMembership = (context: Context, organization_id: number, id: number) =>
  removeMember(context, asThePlatform(organization_id), id);

/** @param revokesClients whether the API clients that act as the user may go with the membership */
export const removeOrganizationUser = (context: ClientContext, id: number, revokesClients: boolean) =>
  removeMember(context, asTheClient(context.caller, revokesClients), id);

/**
 * Ends a membership. Nothing else lets the person in again, only a new invite or a new creation, which bring the same
 * organization user back.
 */
async function removeMember<Known>(context: Context, author: MemberAuthor<Known>, id: number): Promise<void> {
  const { db, now } = context;
  const { organization_id } = author;
  await decideAndWrite(
    db,
    [author.read, ...membershipOfId({ organization_id, id }), clientsOfUser({ organization_id, id })],
    async ([known], [found], [room], clients) => {
      author.require(known);
      const member = requireMember(found);
      const next = formerMember(member, now);
      author.allow(member, next, clients);
      return {
        writes: [
          ...(await membershipWrites(context, { member, room }, next)),
          ...revokeAccess(member, now),
          userByEmail(member),
        ],
        entries: [memberEntry(context, "delete", member)],
      };
    },
  );
}

/** @throws ApiError 404 if there is no such member */
function requireMember(member: Member | undefined): Member {
  if (!member || hasEnded(member)) throw organizationUserNotFound();
  return member;
}
