import { and, eq, notExists, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runFirst } from "../../database/queries.ts";
import { namedWrite, type Rule } from "../../database/rules.ts";
import { apiClients, organizationUserAssists, organizationUsers, users } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { notFound } from "../../http/errors.ts";
import { revokeClients } from "../api_clients/api_clients.sql.ts";
import { deleteCodesOf } from "../authorization_codes/authorization_codes.sql.ts";
import { deletePendingInvites } from "../invites/invites.sql.ts";
import { organizationMissing } from "../organizations/organizations.sql.ts";
import { insertPersonalRoom } from "../waiting_rooms/waiting_rooms.personal.ts";
import { assistsRules, insertAssists } from "./organization_users.assists.ts";
import type { User, updateUserBody } from "./organization_users.schemas.ts";
import { dropWhatRolesGave, hasAccount, userColumns } from "./organization_users.sql.ts";

/** Which member a path names, as values of a query. */
interface MemberPath {
  organization_id: number;
  id: number;
}

const isMember = ({ organization_id, id }: Placeholders<MemberPath>): SQL | undefined =>
  and(
    eq(organizationUsers.organization_id, organization_id),
    eq(organizationUsers.id, id),
    hasAccount(organizationUsers),
  );

const memberRules = (path: Placeholders<MemberPath>): Rule[] => [
  organizationMissing(path.organization_id),
  {
    broken: notExists(
      builder.select({ id: organizationUsers.id }).from(organizationUsers).where(isMember(path)),
    ),
    refusal: () => notFound("Organization user"),
  },
];

/** Changes a member. A field left out stays. Roles that are gained or lost bring or take what goes with them. */
export async function updateUser(
  { db, now }: Context,
  organization_id: number,
  id: number,
  { display_name, roles, assists }: z.output<typeof updateUserBody>["user"],
): Promise<User> {
  // For the personal room of somebody who becomes a provider.
  const room_name =
    display_name ?? (await runFirst(db, memberName({ organization_id, id })))?.display_name ?? "";
  return changeMember(db, {
    organization_id,
    id,
    display_name: display_name ?? null,
    roles: roles ? JSON.stringify(roles) : null,
    assists: assists ? JSON.stringify([...new Set(assists)]) : null,
    room_name,
    slug_name: kebabCase(room_name, "room"),
    now,
  });
}

const memberName = namedQuery((path: Placeholders<MemberPath>) =>
  builder
    .select({ display_name: organizationUsers.display_name })
    .from(organizationUsers)
    .where(isMember(path)),
);

/** null leaves a field as it is. Roles and the ids of whom the user assists are JSON text. */
interface MemberChange extends MemberPath {
  display_name: string | null;
  roles: string | null;
  assists: string | null;
  room_name: string;
  slug_name: string;
  now: number;
}

const changeMember = namedWrite((change: Placeholders<MemberChange>) => {
  const { organization_id, id, display_name, assists, room_name, slug_name, now } = change;
  const nextRoles = sql`coalesce(${change.roles}, ${organizationUsers.roles})`;
  const rolesOfMember = builder.select({ roles: nextRoles }).from(organizationUsers).where(isMember(change));
  return {
    rules: [
      ...memberRules(change),
      ...assistsRules({ organization_id, assistant: id, assists, roles: rolesOfMember }),
    ],
    statements: [
      builder
        .update(organizationUsers)
        .set({
          display_name: sql`coalesce(${display_name}, ${organizationUsers.display_name})`,
          roles: nextRoles,
          updated_at: sql`${now}`,
        })
        .where(isMember(change)),
      insertPersonalRoom({ organization_id, member: id, name: room_name, slug_name, now }),
      ...dropWhatRolesGave({ organization_id, id, now }),
      builder
        .delete(organizationUserAssists)
        .where(and(eq(organizationUserAssists.assistant_id, id), sql`${assists} is not null`)),
      insertAssists({ organization_id, assistant: id, assists }),
      builder
        .select(userColumns)
        .from(organizationUsers)
        .innerJoin(users, eq(users.id, organizationUsers.user_id))
        .where(isMember(change)),
    ],
  };
});

/**
 * Ends a membership. The row stays, without roles: calls and metrics lead to it. Nothing else lets the person in again,
 * only a new invite or a new creation, which bring the same organization user back.
 */
export async function endMembership(
  { db, now }: Context,
  organization_id: number,
  id: number,
): Promise<void> {
  await removeMember(db, { organization_id, id, now });
}

const removeMember = namedWrite((member: Placeholders<MemberPath & { now: number }>) => {
  const { organization_id, id, now } = member;
  const formerMember = and(
    eq(organizationUsers.organization_id, organization_id),
    eq(organizationUsers.id, id),
  );
  const email = builder
    .select({ email: users.email })
    .from(organizationUsers)
    .innerJoin(users, eq(users.id, organizationUsers.user_id))
    .where(formerMember);
  return {
    rules: memberRules(member),
    statements: [
      builder
        .update(organizationUsers)
        .set({ roles: [], updated_at: sql`${now}` })
        .where(isMember(member)),
      ...dropWhatRolesGave({ organization_id, id, now }),
      revokeClients(eq(apiClients.organization_user_id, id), now),
      deleteCodesOf(id, now),
      deletePendingInvites(organization_id, email),
      builder.select({ id: organizationUsers.id }).from(organizationUsers).where(formerMember),
    ],
  };
});
