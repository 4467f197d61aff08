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

/** Empty if the route is open to every role. */
export const rolesFor = (c: HonoContext): Role[] => declarationOf<Role[]>(c, "roles") ?? [];

export const hasOneOf = ({ roles }: Pick<Caller, "roles">, needed: readonly Role[]): boolean =>
  needed.length === 0 || needed.some((role) => roles.includes(role));

/** @throws ApiError 403 */
export function requireRoleOf(caller: Pick<Caller, "roles">, ...needed: Role[]): void {
  if (!hasOneOf(caller, needed)) throw missingRole(...needed);
}

/** @throws ApiError 403. The roles can have changed since the request began. */
export function administeredOrganization(caller: Pick<Caller, "organization_id" | "roles">): number {
  requireRoleOf(caller, "organization_admin");
  return caller.organization_id;
}
