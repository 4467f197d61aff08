import type { Caller } from "../../context.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import type { ApiError } from "../../http/errors.ts";
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

/**
 * The organization of an administrator. Some things are only for them; for other callers these do not exist, as
 * everything that is out of reach.
 *
 * @param notFound makes the error that says what does not exist
 */
export function administeredOrganization(
  { organization_id, roles }: Caller,
  notFound: () => ApiError,
): number {
  if (!roles.includes("organization_admin")) throw notFound();
  return organization_id;
}
