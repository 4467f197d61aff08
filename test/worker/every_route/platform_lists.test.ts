import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { accept } from "../support/invites.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";

const list = ({ id }: Pick<Organization, "id">, name: string, query = "") =>
  given(platform.get(`/organizations/${id}/${name}${query}`));

const onePageOf = (total_count: number) => ({
  current_page: 1,
  per_page: 25,
  total_pages: Math.min(total_count, 1),
  total_count,
});

describe.each(["users", "api_clients", "issuers"])("The platform's GET …/%s", (name) => {
  it("is empty if the organization has none, and past its last page", async () => {
    const { id } = await given(platform.post("/organizations", { organization: { name: unique("clinic") } }));
    expect(await list({ id }, name)).toEqual({ [name]: [], pagination: onePageOf(0) });
    const clinic = await anOrganization();
    const past = await list(clinic, name, "?page=7&per_page=500");
    expect(past).toMatchObject({ [name]: [], pagination: { current_page: 7, per_page: 100 } });
  });
});

describe("The platform's GET …/users", () => {
  it("lists users by id, as they were created, with the ids of the providers whom they assist", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider("Paula Provider");
    const peter = await clinic.addProvider("Peter Provider");
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"], {
      assists: [peter.id, paula.id],
    });
    const una = await clinic.addUser("Una User", ["provider_assistant", "provider"], { assists: [paula.id] });
    expect(await list(clinic, "users")).toEqual({
      users: [
        { ...clinic.admin, assists: [] },
        { ...paula, assists: [] },
        { ...peter, assists: [] },
        { ...al, assists: [paula.id, peter.id] },
        { ...una, assists: [paula.id] },
      ],
      pagination: onePageOf(5),
    });
  });

  it("shows the current slug of a personal room, and a user who accepted an invite", async () => {
    const clinic = await anOrganization();
    const { id, waiting_room_slug } = await clinic.addProvider("Paula Provider");
    const renamed = { waiting_room: { name: "Paula's practice" } };
    const { slug } = await given(clinic.client.put(`/waiting_rooms/${waiting_room_slug}`, renamed));
    const invitee = await given(accept(await clinic.addInvite()));
    const { users } = await list(clinic, "users");
    expect(users).toMatchObject([{ id: clinic.admin.id }, { id, waiting_room_slug: slug }, invitee]);
    expect(slug).not.toBe(waiting_room_slug);
  });
});

it("The platform's GET …/api_clients lists clients by id, without their secrets, and with the time of revocation", async () => {
  const clinic = await anOrganization();
  const provider = await clinic.addProvider();
  const rotated = await clinic.addClient(provider.id);
  const shown = (client: typeof rotated, organization_user_id: number, revoked_at: unknown) => ({
    id: client.id,
    name: "Integration",
    organization_user_id,
    client_id: client.credentials["X-Client-ID"],
    scopes: null,
    expires_at: null,
    secret_hint: client.credentials["X-Client-Secret"].slice(-4),
    last_used_at: null,
    revoked_at,
  });
  const first = shown(clinic.client, clinic.admin.id, null);
  expect(await list(clinic, "api_clients")).toEqual({
    api_clients: [first, shown(rotated, provider.id, null)],
    pagination: onePageOf(2),
  });
  expectGone(await clinic.platform.delete(`/api_clients/${rotated.id}`));
  const { api_clients } = await list(clinic, "api_clients");
  expect(api_clients).toEqual([first, shown(rotated, provider.id, aTimestamp)]);
  expectRefusal(await clinic.platform.delete(`/api_clients/${rotated.id}`), 404);
  expect((await list(clinic, "api_clients")).api_clients).toEqual(api_clients);
});

describe("The platform's GET …/issuers", () => {
  const register = ({ id }: Organization, name = unique("idp")) =>
    platform.post(`/organizations/${id}/issuers`, {
      issuer: { issuer: `https://${name}.test`, audience: "video-visits", jwks_url: "https://idp.test/jwks" },
    });

  it("lists issuers by id, as they were registered, until they are deleted", async () => {
    const clinic = await anOrganization();
    const [first, second] = [await given(register(clinic)), await given(register(clinic))];
    expect(await list(clinic, "issuers")).toEqual({ issuers: [first, second], pagination: onePageOf(2) });
    expect(await list(clinic, "issuers", "?per_page=1&page=2")).toMatchObject({ issuers: [second] });
    expectGone(await clinic.platform.delete(`/issuers/${first.id}`));
    expect(await list(clinic, "issuers")).toEqual({ issuers: [second], pagination: onePageOf(1) });
    expectGone(await clinic.platform.delete(`/issuers/${second.id}`));
    expect(await list(clinic, "issuers")).toEqual({ issuers: [], pagination: onePageOf(0) });
  });
});
