import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { isSameRow } from "../../database/merging.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { organizationUsers } from "../../database/schema.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { listOfOrganization, organizationById } from "../organizations/organizations.sql.ts";
import {
  deletePendingInvitesOf,
  memberEntry,
  membershipOfEmail,
  membershipOfId,
  membershipWrites,
  providersAmong,
  revokeAccess,
  userByEmail,
} from "./organization_users.membership.ts";
import {
  formerMember,
  hasEnded,
  type Member,
  mergeMember,
  type NextMember,
  newMember,
} from "./organization_users.merge.ts";
import { organizationUserNotFound } from "./organization_users.refusals.ts";
import type { createUserBody, OrganizationUser, User, updateUserBody } from "./organization_users.schemas.ts";
import { everybody, pageOfUsers, reachedUser, reachOf, selfAndAssisted } from "./organization_users.sql.ts";

/** All users of an organization, removed ones too. */
export const listUsers = listOfOrganization(organizationUsers, pageOfUsers);

/** The organization users that the caller reaches. */
export async function listOrganizationUsers(
  { db, caller }: ClientContext,
  page: PageQuery,
): Promise<Page<OrganizationUser>> {
  const reach = reachOf(caller);
  const list = reach.reaches_everybody ? everybody : selfAndAssisted;
  const [[counted], items] = await runBatch(db, [
    list.total(reach),
    list.page({ ...reach, ...pageWindow(page) }),
  ]);
  return toPage(page, counted?.total ?? 0, items);
}

export async function requireOrganizationUser(
  { db, caller }: ClientContext,
  id: number,
): Promise<OrganizationUser> {
  const user = await runFirst(db, reachedUser({ ...reachOf(caller), id }));
  if (!user) throw organizationUserNotFound();
  return user;
}

/** Makes somebody a user of the organization, who then needs no invite any more. */
export async function createUser(
  context: Context,
  organization_id: number,
  input: z.output<typeof createUserBody>["user"],
): Promise<User> {
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
          ...(await membershipWrites({ member, room }, next, now)),
          deletePendingInvitesOf(person),
          userByEmail(person),
        ],
        entries: [memberEntry(context, "create", person)],
      };
    },
  );
}

/** Changes a member. Roles that are gained or lost bring or take what goes with them. */
export async function updateUser(
  context: Context,
  organization_id: number,
  id: number,
  input: z.output<typeof updateUserBody>["user"],
): Promise<User> {
  const { db, now } = context;
  return decideAndWrite(
    db,
    [
      organizationById({ id: organization_id }),
      providersAmong({ organization_id, ids: JSON.stringify(input.assists ?? []) }),
      ...membershipOfId({ organization_id, id }),
    ],
    async ([organization], providers, [found], [room]) => {
      const member = requireMember(organization, found);
      const next = mergeMember({ member, providers }, input, now);
      return {
        writes: [...(await membershipWrites({ member, room }, next, now)), userByEmail(next)],
        entries: isSameRow<NextMember>(member, next) ? [] : [memberEntry(context, "update", member)],
      };
    },
  );
}

/**
 * Ends a membership. Nothing else lets the person in again, only a new invite or a new creation, which bring the same
 * organization user back.
 */
export async function endMembership(context: Context, organization_id: number, id: number): Promise<void> {
  const { db, now } = context;
  await decideAndWrite(
    db,
    [organizationById({ id: organization_id }), ...membershipOfId({ organization_id, id })],
    async ([organization], [found], [room]) => {
      const member = requireMember(organization, found);
      const next = formerMember(member, now);
      return {
        writes: [
          ...(await membershipWrites({ member, room }, next, now)),
          ...revokeAccess(member, now),
          userByEmail(member),
        ],
        entries: [memberEntry(context, "delete", member)],
      };
    },
  );
}

/** @throws ApiError 404 if there is no such organization, or no such member */
function requireMember(organization: object | undefined, member: Member | undefined): Member {
  if (!organization) throw organizationNotFound();
  if (!member || hasEnded(member)) throw organizationUserNotFound();
  return member;
}
