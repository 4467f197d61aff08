import { and, asc, count, eq, isNotNull, type SQL } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runBatch } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { organizationUsers, users } from "../../database/schema.ts";
import { kebabCase } from "../../database/slug.ts";
import { selectTotal, totalOf } from "../../database/totals.ts";
import { unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, type PageWindow, pageWindow, toPage } from "../../http/pagination.ts";
import { listOfOrganization, organizationMissing } from "../organizations/organizations.sql.ts";
import { assistsRules, insertAssists } from "./organization_users.assists.ts";
import type { CreatedUser, createUserBody, OrganizationUser } from "./organization_users.schemas.ts";
import {
  accountOf,
  createdUser,
  isSelfOrAssisted,
  joinOrganization,
  membershipOf,
  organizationUserColumns,
  type Reach,
  reachOf,
  userColumns,
} from "./organization_users.sql.ts";

/** Makes somebody a user of the organization. */
export async function createUser(
  { db, now }: Context,
  organization_id: number,
  { email, display_name, roles, assists = [] }: z.output<typeof createUserBody>["user"],
): Promise<CreatedUser> {
  return insertUser(db, {
    organization_id,
    email,
    display_name,
    roles: JSON.stringify(roles),
    slug_name: kebabCase(display_name, "room"),
    assists: JSON.stringify([...new Set(assists)]),
    now,
  });
}

/** Roles and the ids of whom the user assists are JSON text. */
interface NewUser {
  organization_id: number;
  email: string;
  display_name: string;
  roles: string;
  slug_name: string;
  assists: string;
  now: number;
}

const insertUser = namedWrite((user: Placeholders<NewUser>) => {
  const { organization_id, email, roles, assists } = user;
  const assistant = membershipOf(organization_id, email);
  return {
    rules: [
      organizationMissing(organization_id),
      {
        broken: isNotNull(accountOf(organization_id, email)),
        refusal: () =>
          unprocessable(
            "user.email: belongs to a user of the organization already; to change the user, use PUT",
          ),
      },
      ...assistsRules({ organization_id, assistant, assists, roles }),
    ],
    statements: [
      ...joinOrganization(user),
      insertAssists({ organization_id, assistant, assists }),
      createdUser(organization_id, email),
    ],
  };
});

/** All users of an organization, removed ones too. */
export const listUsers = listOfOrganization(
  "organization_users",
  namedQuery(({ organization_id, limit, offset }: Placeholders<{ organization_id: number } & PageWindow>) =>
    builder
      .select(userColumns)
      .from(organizationUsers)
      .innerJoin(users, eq(users.id, organizationUsers.user_id))
      .where(eq(organizationUsers.organization_id, organization_id))
      .orderBy(asc(organizationUsers.id))
      .limit(limit)
      .offset(offset),
  ),
);

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

/*
 * Two lists, not one with a flag in its condition: for that, SQLite would read all members of an organization to find
 * the few that somebody assists.
 */

const ofOrganization = ({ organization_id }: Pick<Placeholders<Reach>, "organization_id">) =>
  eq(organizationUsers.organization_id, organization_id);

const ofAssistant = (reach: Placeholders<Reach>) =>
  and(ofOrganization(reach), isSelfOrAssisted(reach.organization_user_id));

const pageWhere = (condition: (reach: Placeholders<Reach>) => SQL | undefined) =>
  namedQuery((values: Placeholders<Reach & PageWindow>) =>
    builder
      .select(organizationUserColumns)
      .from(organizationUsers)
      .innerJoin(users, eq(users.id, organizationUsers.user_id))
      .where(condition(values))
      .orderBy(asc(organizationUsers.id))
      .limit(values.limit)
      .offset(values.offset),
  );

const everybody = {
  total: namedQuery(({ organization_id }: Placeholders<Reach>) =>
    selectTotal(totalOf("organization_users", organization_id)),
  ),
  page: pageWhere(ofOrganization),
};

const selfAndAssisted = {
  total: namedQuery((reach: Placeholders<Reach>) =>
    builder
      .select({ total: count().as("total") })
      .from(organizationUsers)
      .where(ofAssistant(reach)),
  ),
  page: pageWhere(ofAssistant),
};
