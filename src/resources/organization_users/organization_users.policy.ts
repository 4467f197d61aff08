import type { Caller } from "../../context.ts";
import { hasEnded, type Member, type NextMember } from "./organization_users.merge.ts";
import {
  clientDemotesItsUser,
  clientRemovesItsUser,
  clientsActAsUser,
} from "./organization_users.refusals.ts";

/**
 * A user who changes members is an organization_admin and stays one. So an organization keeps at least one, even where the last
 * two remove each other at once: the second is decided on what the first has left.
 *
 * @throws ApiError 422 if the client would take that from its own user
 */
export function requireAdministratorStays(
  { organization_user_id }: Pick<Caller, "organization_user_id">,
  { id }: Pick<Member, "id">,
  next: NextMember,
): void {
  if (id !== organization_user_id || next.roles.includes("organization_admin")) return;
  throw hasEnded(next) ? clientRemovesItsUser() : clientDemotesItsUser();
}

/** @throws ApiError 422 if API clients act as somebody whose membership is to end */
export function requireNoClients(clients: { id: number }[]): void {
  if (clients.length > 0) throw clientsActAsUser(clients.map(({ id }) => id));
}
