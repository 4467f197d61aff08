import { ROLES, type Role } from "../../database/enums.ts";

/** Removes duplicates and sorts the roles, lowest first, as they are stored and shown. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}
