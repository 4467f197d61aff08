import * as z from "zod";
import { ROLES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { email, id, name, pathId } from "../../http/wire.ts";
import { MAX_ASSISTS, MAX_ROLE_NAMES } from "../../limits.ts";
import { sortRoles } from "../roles/roles.schemas.ts";
import type {
  createdUserSchema,
  organizationUserSchema,
  userSchema,
} from "./organization_users.responses.ts";
import type { createdUserColumns, organizationUserColumns, userColumns } from "./organization_users.sql.ts";

const roleList = (tooFew: string) =>
  z
    .array(z.enum(ROLES), {
      error: (issue) => (issue.input === undefined ? "is required" : "must be a list of roles"),
    })
    .min(1, tooFew)
    .max(MAX_ROLE_NAMES, `must name at most ${MAX_ROLE_NAMES} roles`)
    .transform(sortRoles);

/** At least one role name; repeated ones count once, lowest first. */
export const roleNames = roleList("must name at least one role");

const assists = z.array(id).max(MAX_ASSISTS, `must name at most ${MAX_ASSISTS} providers`);

export const createUserBody = z.object({
  user: z.object({ email, display_name: name, roles: roleNames, assists: assists.optional() }),
});

export const updateUserBody = z.object({
  user: z.object({
    display_name: name.optional(),
    roles: roleList("must name at least one role; to end the membership, use DELETE").optional(),
    assists: assists.optional(),
  }),
});

export const memberParams = z.object({ id: pathId, organization_user_id: pathId });

export type OrganizationUser = Row<typeof organizationUserColumns>;

export type CreatedUser = Row<typeof createdUserColumns>;

export type User = Row<typeof userColumns>;

export function toOrganizationUser(row: OrganizationUser): z.input<typeof organizationUserSchema> {
  return {
    id: row.id,
    user_id: row.user_id,
    email: row.email,
    display_name: row.display_name,
    roles: row.roles,
  };
}

export function toCreatedUser(row: CreatedUser): z.input<typeof createdUserSchema> {
  return {
    ...toOrganizationUser(row),
    organization_id: row.organization_id,
    waiting_room_slug: row.waiting_room_slug,
  };
}

export function toUser(row: User): z.input<typeof userSchema> {
  return { ...toCreatedUser(row), assists: row.assists };
}
