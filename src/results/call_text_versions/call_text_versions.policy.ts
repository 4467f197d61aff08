import type { Caller } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import type { ApiError } from "../../http/errors.ts";
import { requireRoleOf } from "../../http/roles.ts";
import type { Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { requireRights } from "../../organization/roles/roles.policy.ts";

/** The roles that may correct texts and see their versions. */
export const CORRECTORS: Role[] = ["provider", "organization_admin"];

/**
 * Checks the author of a correction again when it is written, by the roles in D1. A caller who reaches everybody as an
 * administrator must still be one.
 *
 * @param member the caller in D1
 * @throws ApiError 403 if the role is missing, 404 if the call is out of reach
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
