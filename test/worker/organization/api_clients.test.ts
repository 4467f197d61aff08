import { describe, expect, it } from "vitest";
import { api, platform } from "../support/api.ts";
import { storedRows } from "../support/database.ts";
import { expectGone } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";

const create = (organization_id: number, api_client: object) =>
  platform.post(`/organizations/${organization_id}/api_clients`, { api_client });

const asClient = ({ client_id, client_secret }: { client_id: string; client_secret: string }) =>
  api("/api/external", { "X-Client-ID": client_id, "X-Client-Secret": client_secret });

const storedClients = (organization: Organization) => storedRows(organization, "api_clients");

describe("POST /organizations/{organization_id}/api_clients", () => {
  it("stores only the SHA-256 of the secret", async () => {
    const clinic = await anOrganization();
    const client = await given(
      create(clinic.id, { name: "Integration", organization_user_id: clinic.admin.id }),
    );
    const sha256 = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(client.client_secret));
    const digest = [...new Uint8Array(sha256)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const stored = (await storedClients(clinic)).find(({ id }) => id === client.id);
    expect(Object.values(stored ?? {})).toContain(digest);
    expect(JSON.stringify(stored)).not.toContain(client.client_secret);
  });

  it("gives every client its own credentials, so that one can replace another", async () => {
    const clinic = await anOrganization();
    const wanted = { name: "Integration", organization_user_id: clinic.admin.id };
    const old = await given(create(clinic.id, wanted));
    const successor = await given(create(clinic.id, wanted));
    expect(successor.id).not.toBe(old.id);
    expect(successor.client_id).not.toBe(old.client_id);
    expect(successor.client_secret).not.toBe(old.client_secret);
    expect((await asClient(old).get("/waiting_rooms")).status).toBe(200);
    expect((await asClient(successor).get("/waiting_rooms")).status).toBe(200);
  });
});

describe("DELETE /organizations/{organization_id}/api_clients/{id}", () => {
  /** Two clients of one organization that have not been used yet. */
  async function twoClients() {
    const clinic = await anOrganization();
    const wanted = { name: "Integration", organization_user_id: clinic.admin.id };
    return [await given(create(clinic.id, wanted)), await given(create(clinic.id, wanted)), clinic] as const;
  }

  it("keeps the resources that the client created", async () => {
    const [client, other, clinic] = await twoClients();
    const room = await given(
      asClient(client).post("/waiting_rooms", { waiting_room: { name: "Cardiology" } }),
    );
    expectGone(await clinic.platform.delete(`/api_clients/${client.id}`));
    expect((await asClient(other).get(`/waiting_rooms/${room.slug}`)).body).toEqual(room);
  });
});
