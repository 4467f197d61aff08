import { notFound, unprocessable } from "../../http/errors.ts";

export const organizationUserNotFound = () => notFound("Organization user");

export const emailHasAccount = () =>
  unprocessable("user.email: belongs to a user of the organization already; to change the user, use PUT");

/** The fault of an empty list of roles that is to replace those of a user. */
export const NO_ROLE_LEFT = "must name at least one role; to end the membership, use DELETE";

/** The field of a request that holds a member: in the platform API, and in the external API. */
export type MemberField = "user" | "organization_user";

export const notAnAssistant = (field: MemberField) =>
  unprocessable(`${field}.assists: is for those who have the role provider_assistant`);

export const assistsNonProvider = (field: MemberField) =>
  unprocessable(`${field}.assists: must name providers of the organization`);

export const clientRemovesItsUser = () =>
  unprocessable(
    "Your client acts as this organization user: only a client of another organization_admin can end the membership, so that the organization keeps one",
  );

export const clientDemotesItsUser = () =>
  unprocessable(
    "organization_user.roles: must include organization_admin, because your client acts as this organization user: only a client of another organization_admin can take the role away, so that the organization keeps one",
  );

/** @param ids of the clients */
export const clientsActAsUser = (ids: number[]) =>
  unprocessable(
    `API clients act as this organization user, and would be revoked: ${ids.join(", ")}; to revoke them too, add ?revoke_api_clients=true`,
  );

export const providerInUse = (field: MemberField) =>
  unprocessable(
    `${field}.roles: must include provider while the personal waiting room is in use; DELETE ends the membership`,
  );
