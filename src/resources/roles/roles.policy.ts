import type { Caller } from "../../context.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import type { ApiError } from "../../http/errors.ts";
import { invalidClient } from "../api_clients/api_clients.refusals.ts";
import { rolesAboveLevel } from "./roles.refusals.ts";

/** The roles at or below the highest of these, lowest first. */
export function assignableRoles(roles: readonly Role[]): Role[] {
  const level = Math.max(...roles.map((role) => ROLES.indexOf(role)));
  return ROLES.filter((_, rank) => rank <= level);
}

/**
 * A caller assigns roles at or below its own permission level (contract, section "Authentication").
 *
 * @param field where the request names the roles
 * @throws ApiError 422 naming the field
 */
export function requireAssignable(callerRoles: readonly Role[], roles: readonly Role[], field: string): void {
  const assignable = assignableRoles(callerRoles);
  const above = roles.filter((role) => !assignable.includes(role));
  if (above.length > 0) throw rolesAboveLevel(field, above, assignable);
}

/** The roles that are assignable with those before, and not with those after. */
export function noLongerAssignable(before: readonly Role[], after: readonly Role[]): Role[] {
  const assignable = assignableRoles(after);
  return assignableRoles(before).filter((role) => !assignable.includes(role));
}

/**
 * The roles that the caller has when something is written. An isolate may know an API client for some time after it was
 * revoked, or its member has lost roles or the membership: what is made in this time would outlive it.
 *
 * @param member the caller as D1 knows it
 * @throws ApiError 401 if the client is revoked, or the membership has ended
 */
export function requireRoles(member: { roles: Role[] } | undefined): Role[] {
  if (!member || member.roles.length === 0) throw invalidClient();
  return member.roles;
}

/**
 * The organization of an administrator. Some things are only for them; for other callers these do not exist, as
 * everything that is out of reach.
 *
 * @param notFound makes the error that says what does not exist
 */
export function administeredOrganization(
  { organization_id, roles }: Pick<Caller, "organization_id" | "roles">,
  notFound: () => ApiError,
): number {
  if (!roles.includes("organization_admin")) throw notFound();
  return organization_id;
}

/**
 * The same when something is written. It counts what D1 knows: somebody who was demoted could use the time in which an isolate
 * knows them as they were to become an administrator again.
 *
 * @param member the caller as D1 knows it
 */
export function requireAdministrator(
  { organization_id }: Pick<Caller, "organization_id">,
  member: { roles: Role[] } | undefined,
  notFound: () => ApiError,
): void {
  administeredOrganization({ organization_id, roles: requireRoles(member) }, notFound);
}
