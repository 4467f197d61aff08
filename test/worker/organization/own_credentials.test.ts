import { describe, expect, it } from "vitest";
import { MAX_API_CLIENTS, MAX_API_CLIENTS_EVER } from "../../../src/limits.ts";
import { api, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { insertMany } from "../support/rows.ts";
import { changingNothing, leavingNoRows } from "../support/unchanged.ts";

async function aClinic() {
  const clinic = await anOrganization();
  const paula = await clinic.addProvider();
  const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
  const others = [await clinic.addClient(paula.id), await clinic.addClient(al.id)];
  const { client } = clinic;
  const wanted = { name: "Second system", organization_user_id: paula.id };
  return {
    clinic,
    client,
    paula,
    others,
    wanted,
    create: () => client.post("/api_clients", { api_client: wanted }),
    list: async () => (await given(client.get("/api_clients"))).api_clients,
  };
}

describe("POST /api_clients", () => {
  it("allows a limited number of clients in use, even for requests at once", async () => {
    const { clinic, client, create, list } = await aClinic();
    for (let n = (await list()).length; n < MAX_API_CLIENTS; n++) await given(create());
    const FULL = new RegExp(`^The organization has ${MAX_API_CLIENTS} API clients in use`);
    expectRefusal(await changingNothing(create), 422, FULL);
    const wanted = { api_client: { name: "One more", organization_user_id: clinic.admin.id } };
    expectRefusal(await platform.post(`/organizations/${clinic.id}/api_clients`, wanted), 422, FULL);
    await given(client.delete(`/api_clients/${(await list()).at(-1).id}`));
    const answers = await atOnce(5, () => create());
    expect(statusesOf(answers)).toEqual({ 201: 1, 422: 4 });
  });

  it("refuses to create more than 20,000 clients in all, which only the platform still can", async () => {
    const { clinic, create } = await aClinic();
    leavingNoRows(clinic.id, "api_clients");
    await insertMany(
      MAX_API_CLIENTS_EVER,
      `insert into api_clients (organization_id, organization_user_id, name, client_id, secret_digest, secret_hint, revoked_at, created_at, updated_at)
       select ?1, ?2, 'Gone', 'gone-' || ?1 || '-' || n, '', '', 1, unixepoch() * 1000, 0 from counter`,
      clinic.id,
      clinic.admin.id,
    );
    expectRefusal(await changingNothing(create), 422, /^The organization has created 20,000 API clients/);
    const wanted = { api_client: { name: "One more", organization_user_id: clinic.admin.id } };
    await given(platform.post(`/organizations/${clinic.id}/api_clients`, wanted));
  });
});

describe("DELETE /organization_users/{id} of a user with API clients", () => {
  it("is refused without revoke_api_clients=true", async () => {
    const { client, paula, others, create } = await aClinic();
    const [hers] = others;
    const second = await given(create());
    const path = `/organization_users/${paula.id}`;
    const error = `API clients act as this organization user, and would be revoked: ${hers?.id}, ${second.id}; to revoke them too, add ?revoke_api_clients=true`;
    for (const query of ["", "?revoke_api_clients=false", "?revoke_api_clients="])
      expectRefusal(await changingNothing(() => client.delete(path + query)), 422, error);
    await given(client.delete(`${path}?revoke_api_clients=true`));
    const secrets = { "X-Client-ID": second.client_id, "X-Client-Secret": second.client_secret };
    for (const gone of [hers, api("/api/external", secrets)])
      expect((await gone?.get("/waiting_rooms"))?.status).toBe(401);
  });

  it("either comes before the creation of a client at the same time, or is refused because of it", async () => {
    const { clinic, client } = await aClinic();
    const sam = await clinic.addProvider("Sam Provider");
    const api_client = { name: "Scheduling", organization_user_id: sam.id };
    const [removed, created] = await Promise.all([
      client.delete(`/organization_users/${sam.id}`),
      client.post("/api_clients", { api_client }),
    ]);
    expect([removed?.status, created?.status]).toBeOneOf([
      [204, 422],
      [422, 201],
    ]);
  });
});
