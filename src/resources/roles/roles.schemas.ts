import { ROLES, type Role } from "../../database/enums.ts";

/** Each role once, lowest first: the form in which roles are stored and shown. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}
