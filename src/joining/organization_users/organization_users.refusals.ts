import { notFound, unprocessable } from "../../http/errors.ts";
import { beyondOwnRights } from "../../organization/api_clients/api_clients.refusals.ts";

export const organizationUserNotFound = () => notFound("Organization user");

export const emailHasAccount = () =>
  unprocessable(
    "account_exists",
    "user.email: already belongs to a user of the organization; to change that user, use PUT",
  );

export const MEMBER_STAYS = {
  organization_id: "create the user in the other organization",
  user_id: "it is the id of the person",
  waiting_room_slug: "it follows the name of the personal room: use PUT /waiting_rooms/{slug}",
};

export const emailTaken = (field: MemberField) =>
  unprocessable("account_exists", `${field}.email: belongs to another user of the organization`);

export const memberNeedsEmail = (field: MemberField) =>
  unprocessable(
    "field_not_changeable",
    `${field}.email: can be null only after the membership has ended; until then, the person signs in with it`,
  );

export const formerMemberStays = (field: MemberField, list: "roles" | "assists") =>
  unprocessable(
    "field_not_changeable",
    `${field}.${list}: cannot be changed after the membership has ended; to bring the person back, use returning_user_id in POST /${field === "user" ? "organizations/{organization_id}/users" : "invites"}`,
  );

export const notFormerMember = (field: "user" | "organization_invite") =>
  unprocessable(
    "not_a_former_member",
    `${field}.returning_user_id: must be the id of a user whose membership of the organization has ended; to make the person a new user, leave it out`,
  );

export const NO_ROLE_LEFT = "must name at least one role; to end the membership, use DELETE";

/** The request's field, in the platform API and in the external API. */
export type MemberField = "user" | "organization_user";

export const notAnAssistant = (field: MemberField) =>
  unprocessable("not_an_assistant", `${field}.assists: is only for users with the role provider_assistant`);

export const assistsNonProvider = (field: MemberField, place: number) =>
  unprocessable("not_a_provider", `${field}.assists.${place}: must be a provider of the organization`);

export const clientRemovesItsUser = () =>
  unprocessable(
    "own_user",
    "Your client acts as this organization user: only a client of another organization_admin can end the membership, so that the organization keeps one",
  );

export const clientDemotesItsUser = () =>
  unprocessable(
    "own_user",
    "organization_user.roles: must include organization_admin, because your client acts as this organization user: only a client of another organization_admin can take the role away, so that the organization keeps one",
  );

export const administratorBeyondOwn = () =>
  beyondOwnRights(
    "This organization user is an organization_admin, and your API client has limited scopes or expires: only a client without these limits can change or remove an organization_admin",
  );

export const clientsActAsUser = (ids: number[]) =>
  unprocessable(
    "user_has_api_clients",
    `API clients act as this organization user, and would be revoked: ${ids.join(", ")}; to revoke them too, add ?revoke_api_clients=true`,
  );

export const providerInUse = (field: MemberField) =>
  unprocessable(
    "room_in_use",
    `${field}.roles: must include provider while the personal waiting room is in use; DELETE ends the membership`,
  );
