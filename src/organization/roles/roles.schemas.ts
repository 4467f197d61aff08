import { ROLES, type Role } from "../../database/enums.ts";

/** Without duplicates, lowest first. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}
