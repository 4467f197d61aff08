/** Role names of the contract (section "Invite"), lowest permission level first. */
export const ROLES = ["provider_assistant", "provider", "organization_admin"] as const;

export type Role = (typeof ROLES)[number];

/** Each role once, lowest first: the form in which roles are stored and shown. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}

/** The roles at or below the highest of these, lowest first. */
export function assignableRoles(roles: readonly Role[]): Role[] {
  const level = Math.max(...roles.map((role) => ROLES.indexOf(role)));
  return ROLES.filter((_, rank) => rank <= level);
}
