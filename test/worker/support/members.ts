import { type Api, platform } from "./api.ts";
import { anOrganization, given, type Organization } from "./organization.ts";

type Clinic = Pick<Organization, "id">;

interface Member {
  id: number;
}

const pathOf = (clinic: Clinic, member: Member) => `/organizations/${clinic.id}/users/${member.id}`;

/** Changes a member through the platform API. */
export const change = (clinic: Clinic, member: Member, user: object, api = platform) =>
  api.put(pathOf(clinic, member), { user });

/** Ends a membership through the platform API. */
export const remove = (clinic: Clinic, member: Member, api = platform) => api.delete(pathOf(clinic, member));

/** Changes a member through the external API. */
export const changeThrough = (client: Pick<Api, "put">, { id }: Member, organization_user: object) =>
  client.put(`/organization_users/${id}`, { organization_user });

/** Ends a membership through the external API. */
export const removeThrough = (client: Pick<Api, "delete">, { id }: Member) =>
  client.delete(`/organization_users/${id}?revoke_api_clients=true`);

/** A clinic with a provider, and the path of her personal room. */
export async function aClinicWithProvider(existing?: Organization) {
  const clinic = existing ?? (await anOrganization());
  const paula = await clinic.addProvider("Paula Provider");
  return { clinic, paula, room: `/waiting_rooms/${paula.waiting_room_slug}` };
}

export const usersOf = async ({ id }: Clinic) =>
  (await given(platform.get(`/organizations/${id}/users`))).users;

export const userOf = async (clinic: Clinic, { id }: Member) =>
  (await usersOf(clinic)).find((user: Member) => user.id === id);

/** Adds a person, or with `returning_user_id` brings a former member back. */
export const add = ({ id }: Clinic, user: object) => platform.post(`/organizations/${id}/users`, { user });
