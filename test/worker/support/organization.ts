import { anInvite, unique } from "../../support/clinic.ts";
import { type Api, api, type Fetcher, platform as thePlatform, theWorker } from "./api.ts";

export { anInvite, unique };

/** Returns the body of a response that must succeed for the test to continue. */
export async function given(answer: ReturnType<Api["send"]>) {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`A step of the story failed with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** A new organization for one test, with an administrator and a client that acts as the administrator. */
export async function anOrganization(
  name = "Riverside Clinic",
  slug = unique("org"),
  fetcher: Fetcher = theWorker,
) {
  const platform = thePlatform.through(fetcher);
  const organization = await given(platform.post("/organizations", { organization: { name, slug } }));

  const addUser = (display_name: string, roles: string[], more: object = {}) =>
    given(
      platform.post(`/organizations/${organization.id}/users`, {
        user: { email: `${unique("user")}@example.com`, display_name, roles, ...more },
      }),
    );

  const addClient = async (organization_user_id: number, more: object = {}) => {
    const { id, client_id, client_secret }: Record<string, string> = await given(
      platform.post(`/organizations/${organization.id}/api_clients`, {
        api_client: { name: "Integration", organization_user_id, ...more },
      }),
    );
    const credentials = { "X-Client-ID": client_id ?? "", "X-Client-Secret": client_secret ?? "" };
    return { id: Number(id), credentials, ...api("/api/external", credentials, fetcher) };
  };

  const admin = await addUser("Ada Admin", ["organization_admin"]);
  const client = await addClient(admin.id);

  return {
    id: organization.id as number,
    slug: organization.slug as string,
    name: organization.name as string,
    admin,
    client,
    /** The platform API, with paths below this organization. */
    platform: platform.under(`/organizations/${organization.id}`),
    addUser,
    addClient,
    addProvider: (display_name = "Paula Provider", more: object = {}) =>
      addUser(display_name, ["provider"], more),
    addRoom: (room: object = {}) =>
      given(
        client.post("/waiting_rooms", { waiting_room: { name: "Cardiology", is_active: true, ...room } }),
      ),
    addSub: (slug: string, sub: object) =>
      given(client.post(`/waiting_rooms/${slug}/waiting_room_subs`, { waiting_room_sub: sub })),
    addInvite: (invite: object = {}) =>
      given(client.post("/invites", { organization_invite: anInvite(invite) })),
    /** Reports a participant who waits in the room. */
    addParticipant: (
      slug: string,
      participant: object = {},
      key = unique("participant"),
      made: object = {},
    ) =>
      given(
        platform.put(`/waiting_rooms/${slug}/participants/${key}`, {
          participant: {
            display_name: "Rita Recipient",
            role: "recipient",
            waiting_since: new Date().toISOString(),
            ...participant,
          },
          ...made,
        }),
      ),
  };
}

export type Organization = Awaited<ReturnType<typeof anOrganization>>;
