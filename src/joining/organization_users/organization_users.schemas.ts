import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { pageQuery } from "../../http/pagination.ts";
import { unchangeable } from "../../http/unchangeable.ts";
import { email, flag, id, name, organizationParams, pathId } from "../../http/wire.ts";
import { MAX_ASSISTS, MAX_ROLE_NAMES } from "../../limits.ts";
import { sortRoles } from "../../organization/roles/roles.policy.ts";
import { MEMBER_STAYS, NO_ROLE_LEFT } from "./organization_users.refusals.ts";
import type * as responses from "./organization_users.responses.ts";
import type { organizationUserColumns } from "./organization_users.sql.ts";

const roleListInput = (tooFew: string) =>
  z
    .array(z.enum(ROLES), {
      error: (issue) => (issue.input === undefined ? "is required" : "must be a list of roles"),
    })
    .min(1, tooFew)
    .max(MAX_ROLE_NAMES, `must name at most ${MAX_ROLE_NAMES} roles`)
    .transform(sortRoles);

export const roleNames = () => roleListInput("must name at least one role");

export const assists = () => z.array(id()).max(MAX_ASSISTS, `must name at most ${MAX_ASSISTS} providers`);

const memberFields = () =>
  z.object({ email: email(), display_name: name(), roles: roleNames(), assists: assists() });

export const organizationUsersQuery = () =>
  pageQuery().extend({ email: email().optional(), role: z.enum(ROLES).optional() });

export type OrganizationUsersQuery = z.output<ReturnType<typeof organizationUsersQuery>>;

export const returningUserId = () =>
  id().optional().meta({
    description:
      "The id of a former organization user, whom the person becomes again: with the same id, calls and personal waiting room. Without it, the person becomes a new organization user, even if a former one had the same email.",
  });

export const createUserBody = () =>
  z.object({
    user: memberFields().partial({ assists: true }).extend({ returning_user_id: returningUserId() }),
  });

const changes = () =>
  memberFields()
    .extend({ email: email().nullable(), roles: roleListInput(NO_ROLE_LEFT) })
    .partial();

export type MemberChanges = z.output<ReturnType<typeof changes>>;

export const updateUserBody = () => z.object({ user: changes() }).register(unchangeable, MEMBER_STAYS);

export const updateOrganizationUserBody = () =>
  z.object({ organization_user: changes() }).register(unchangeable, MEMBER_STAYS);

export const removeOrganizationUserQuery = () => z.object({ revoke_api_clients: flag() });

export const memberParams = () => organizationParams().extend({ organization_user_id: pathId() });

export type OrganizationUser = Row<typeof organizationUserColumns>;

export function toOrganizationUser(row: OrganizationUser): z.input<typeof responses.organizationUserSchema> {
  return {
    id: row.id,
    user_id: row.id,
    email: row.email,
    display_name: row.display_name,
    roles: row.roles,
    assists: row.assists,
    waiting_room_slug: row.waiting_room_slug,
  };
}

export function toUser(row: OrganizationUser): z.input<typeof responses.userSchema> {
  return { ...toOrganizationUser(row), organization_id: row.organization_id };
}

export function toCreatedUser(row: OrganizationUser): z.input<typeof responses.createdUserSchema> {
  const { assists: _, ...created } = toUser(row);
  return created;
}
