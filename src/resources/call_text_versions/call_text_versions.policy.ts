import type { Caller } from "../../context.ts";
import type { Role } from "../../database/enums.ts";
import type { ApiError } from "../../http/errors.ts";
import { requireRoles } from "../roles/roles.policy.ts";

/** Who corrects texts, and sees what they said before: for others of the organization there is no such thing. */
export function requireCorrector({ roles }: { roles: readonly Role[] }, notFound: () => ApiError): void {
  if (!roles.includes("provider") && !roles.includes("organization_admin")) throw notFound();
}

/**
 * The same when something is written: it counts what D1 knows, and somebody who reaches everybody as an administrator
 * must still be one.
 *
 * @param member the caller as D1 knows it
 */
export function requireCorrectorStill(
  caller: Pick<Caller, "roles">,
  member: { roles: Role[] } | undefined,
  notFound: () => ApiError,
): void {
  const roles = requireRoles(member);
  requireCorrector({ roles }, notFound);
  if (caller.roles.includes("organization_admin") && !roles.includes("organization_admin")) throw notFound();
}
