import * as z from "zod";
import { ROLES, type Role } from "../../database/enums.ts";

export const rolesSchema = z.object({ roles: z.array(z.enum(ROLES)) });

/** Each role once, lowest first: the form in which roles are stored and shown. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}

/** The roles at or below the highest of these, lowest first. */
export function assignableRoles(roles: readonly Role[]): Role[] {
  const level = Math.max(...roles.map((role) => ROLES.indexOf(role)));
  return ROLES.filter((_, rank) => rank <= level);
}
