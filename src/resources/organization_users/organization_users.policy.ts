import type { Caller } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import { administeredOrganization, requireRoles } from "../roles/roles.policy.ts";
import { hasEnded, type Member, type NextMember } from "./organization_users.merge.ts";
import {
  clientDemotesItsUser,
  clientRemovesItsUser,
  organizationUserNotFound,
} from "./organization_users.refusals.ts";

/**
 * Only an organization_admin changes members. That is the highest role, so nobody can give away more than they have. It
 * counts what D1 knows: an isolate may know a client for some time as it was, and somebody who was demoted could use that
 * time to become an administrator again.
 *
 * @param author the client's user as D1 knows it
 * @throws ApiError 401 if the client is revoked, or that membership has ended; 404 if the user is not an organization_admin
 */
export function requireAdministrator(
  { organization_id }: Pick<Caller, "organization_id">,
  author: { roles: Role[] } | undefined,
): void {
  administeredOrganization({ organization_id, roles: requireRoles(author) }, organizationUserNotFound);
}

/**
 * A user who changes members is an organization_admin and stays one. So an organization keeps at least one, even where the last
 * two remove each other at once: the second is decided on what the first has left.
 *
 * @throws ApiError 422 if the client would take that from its own user
 */
export function requireAdministratorStays(
  { organization_user_id }: Pick<Caller, "organization_user_id">,
  { id }: Pick<Member, "id">,
  next: NextMember,
): void {
  if (id !== organization_user_id || next.roles.includes("organization_admin")) return;
  throw hasEnded(next) ? clientRemovesItsUser() : clientDemotesItsUser();
}
