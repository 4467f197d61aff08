import type { Caller } from "../../context.ts";
import { hasEnded, type Member, type NextMember } from "./organization_users.merge.ts";
import {
  clientDemotesItsUser,
  clientRemovesItsUser,
  clientsActAsUser,
} from "./organization_users.refusals.ts";

/**
 * The author of a change is an organization_admin and stays one. So an organization always keeps an administrator, even
 * if the last two remove each other at once: the second removal is decided again after the first.
 *
 * @throws ApiError 422 if the client would remove or demote its own user
 */
export function requireAdministratorStays(
  { organization_user_id }: Pick<Caller, "organization_user_id">,
  { id }: Pick<Member, "id">,
  next: NextMember,
): void {
  if (id !== organization_user_id || next.roles.includes("organization_admin")) return;
  throw hasEnded(next) ? clientRemovesItsUser() : clientDemotesItsUser();
}

/** @throws ApiError 422 if API clients act as the user whose membership would end */
export function requireNoClients(clients: { id: number }[]): void {
  if (clients.length > 0) throw clientsActAsUser(clients.map(({ id }) => id));
}
