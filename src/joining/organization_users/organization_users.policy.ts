import type { Caller } from "../../context.ts";
import { isSameRow } from "../../database/merging.ts";
import { ALL_RIGHTS, isWithin, type Rights } from "../../organization/api_clients/api_clients.policy.ts";
import { noLongerAssignable, requireAssignable } from "../../organization/roles/roles.policy.ts";
import { hasEnded, type Member, type NextMember } from "./organization_users.merge.ts";
import * as refusals from "./organization_users.refusals.ts";

/** A client with limits changes and makes no organization_admin: with an administrator's email, someone could sign in as one. */
export function requireRightsOver(own: Rights, member: Member, next: NextMember): void {
  if (isSameRow<NextMember>(member, next)) return;
  if (member.roles.includes("organization_admin") && !isWithin(own, ALL_RIGHTS))
    throw refusals.administratorBeyondOwn();
  requireAssignable(own, next.roles, "organization_user.roles");
}

/**
 * The author is an organization_admin and stays one, so that an organization keeps one even if the last two remove each other
 * at once: the second removal is decided again after the first.
 */
export function requireAdministratorStays(
  { organization_user_id }: Pick<Caller, "organization_user_id">,
  { id }: Pick<Member, "id">,
  next: NextMember,
): void {
  if (id !== organization_user_id || next.roles.includes("organization_admin")) return;
  throw hasEnded(next) ? refusals.clientRemovesItsUser() : refusals.clientDemotesItsUser();
}

/** A change that only takes rights away uses a reserve: see usage.quotas.ts. */
export const takesOnlyAway = (before: Member, { roles, assists, ...next }: NextMember): boolean =>
  isSameRow<NextMember>(before, { ...next, roles: before.roles, assists: before.assists }) &&
  (noLongerAssignable(before.roles, roles).length > 0 ||
    roles.every((role) => before.roles.includes(role))) &&
  assists.every((id) => before.assists.includes(id));

export function requireNoClients(clients: { id: number }[]): void {
  if (clients.length > 0) throw refusals.clientsActAsUser(clients.map(({ id }) => id));
}
