import type { Caller } from "../../context.ts";
import { ROLES, type Role } from "../../database/enums.ts";
import { type ApiError, unprocessable } from "../../http/errors.ts";
import { requireRoleOf } from "../../http/roles.ts";
import { ALL_RIGHTS, isWithin, type Rights } from "../api_clients/api_clients.policy.ts";
import { beyondOwnRights, invalidClient } from "../api_clients/api_clients.refusals.ts";

export const sortRoles = (roles: readonly Role[]): Role[] => ROLES.filter((role) => roles.includes(role));

/** Lowest first. A client with limits cannot assign organization_admin: the person could do everything after signing in. */
export function assignableRoles({ roles, ...limits }: Rights): Role[] {
  const level = Math.max(...roles.map((role) => ROLES.indexOf(role)));
  const isLimited = !isWithin(limits, ALL_RIGHTS);
  return ROLES.filter((role, rank) => rank <= level && !(isLimited && role === "organization_admin"));
}

/** Roles at or below the caller's own level (contract, section "Authentication"), within its limits. `field` is for the error. */
export function requireAssignable(own: Rights, roles: readonly Role[], field: string): void {
  const assignable = assignableRoles(own);
  const above = roles.filter((role) => !assignable.includes(role));
  if (above.length === 0) return;
  if (own.roles.includes("organization_admin")) throw administratorNotAssignable(field);
  throw rolesAboveLevel(field, above, assignable);
}

export function noLongerAssignable(before: readonly Role[], after: readonly Role[]): Role[] {
  const assignable = assignableRoles({ ...ALL_RIGHTS, roles: after });
  return assignableRoles({ ...ALL_RIGHTS, roles: before }).filter((role) => !assignable.includes(role));
}

/**
 * The rights in D1, because an isolate may know an API client for some time after it lost them, and a change made in this
 * time would outlive the lost right.
 *
 * @throws ApiError 401
 */
export function requireRights(member: Rights | undefined): Rights {
  if (!member || member.roles.length === 0) throw invalidClient();
  return member;
}

/**
 * Otherwise a demoted user could make themselves an administrator again.
 *
 * @throws ApiError 401, 403
 */
export function requireAdministrator(member: Rights | undefined): Rights {
  const rights = requireRights(member);
  requireRoleOf(rights, "organization_admin");
  return rights;
}

export const CORRECTORS: Role[] = ["provider", "organization_admin"];

/**
 * By the roles in D1. A caller who reaches everybody as an administrator must still be one.
 *
 * @throws ApiError 403, 404
 */
export function requireCorrectorStill(
  caller: Pick<Caller, "roles">,
  member: Rights | undefined,
  notFound: () => ApiError,
): void {
  const { roles } = requireRights(member);
  requireRoleOf({ roles }, ...CORRECTORS);
  if (caller.roles.includes("organization_admin") && !roles.includes("organization_admin")) throw notFound();
}

export const rolesAboveLevel = (field: string, above: readonly Role[], assignable: readonly Role[]) =>
  unprocessable(
    "role_above_level",
    `${field}: ${above.join(", ")} is above your permission level; you may assign ${assignable.join(", ")}`,
  );

export const administratorNotAssignable = (field: string) =>
  beyondOwnRights(
    `${field}: must not include organization_admin, because your API client has limited scopes or expires; use a client without these limits`,
  );
