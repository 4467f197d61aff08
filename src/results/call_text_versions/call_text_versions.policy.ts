import type { Caller } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import type { ApiError } from "../../http/errors.ts";
import type { Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { requireRights } from "../../organization/roles/roles.policy.ts";

/** Only providers and administrators may correct texts and see their versions. Everyone else gets 404. */
export function requireCorrector({ roles }: { roles: readonly Role[] }, notFound: () => ApiError): void {
  if (!roles.includes("provider") && !roles.includes("organization_admin")) throw notFound();
}

/**
 * Checks the author of a correction again when it is written, by the roles in D1. A caller who reaches everybody as an
 * administrator must still be one.
 *
 * @param member the caller in D1
 */
export function requireCorrectorStill(
  caller: Pick<Caller, "roles">,
  member: Rights | undefined,
  notFound: () => ApiError,
): void {
  const { roles } = requireRights(member);
  requireCorrector({ roles }, notFound);
  if (caller.roles.includes("organization_admin") && !roles.includes("organization_admin")) throw notFound();
}
