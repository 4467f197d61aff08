/** Role names of the contract (section "Invite"), lowest permission level first. */
export const ROLES = ["provider_assistant", "provider", "organization_admin"] as const;

export type Role = (typeof ROLES)[number];

/** Each role once, lowest first: the form in which roles are stored and shown. */
export function sortRoles(roles: readonly Role[]): Role[] {
  return ROLES.filter((role) => roles.includes(role));
}

/** Whoever holds the role of provider, or one above it, has a personal waiting room. */
export function hasPersonalRoom(roles: readonly Role[]): boolean {
  return roles.includes("provider") || roles.includes("organization_admin");
}
