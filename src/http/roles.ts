import type { Context as HonoContext } from "hono";
import type { Caller } from "../context.ts";
import type { Role } from "../database/enums.ts";
import { ApiError } from "./errors.ts";
import { declarationOf } from "./route_declarations.ts";

export const missingRole = (...roles: readonly Role[]) =>
  new ApiError(
    403,
    "missing_role",
    `This operation is only for API clients that act as ${roles.join(" or ")}: use such a client; an administrator can create one`,
  );

/** @throws ApiError 403 if the client's user has none of the roles that the route needs */
export function requireRole(c: HonoContext, caller: Pick<Caller, "roles">): void {
  const needed = declarationOf<Role[]>(c, "roles") ?? [];
  if (needed.length > 0) requireRoleOf(caller, ...needed);
}

/** @throws ApiError 403 */
export function requireRoleOf({ roles }: Pick<Caller, "roles">, ...needed: Role[]): void {
  if (!needed.some((role) => roles.includes(role))) throw missingRole(...needed);
}

/**
 * The caller's organization, if the caller administers it. The roles can have changed since the request began.
 *
 * @throws ApiError 403
 */
export function administeredOrganization(caller: Pick<Caller, "organization_id" | "roles">): number {
  requireRoleOf(caller, "organization_admin");
  return caller.organization_id;
}
