import { describe, expect, it } from "vitest";
import { aCall, ENDED_AT } from "../support/calls.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";

type Client = Organization["client"];

const list = async (client: Client, path: string) => {
  const { pagination, ...lists } = await given(client.get(path));
  const [items] = Object.values(lists) as { id: number }[][];
  return { ids: items?.map(({ id }) => id), total: pagination.total_count };
};

const exactly = (...found: { id: number }[]) => ({ ids: found.map(({ id }) => id), total: found.length });

describe("GET /organization_users", () => {
  it("finds a member by email, ignoring case", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const neighbour = await anOrganization();
    await neighbour.addProvider("Paula Provider", { email: paula.email });
    const path = `/organization_users?email=${paula.email.toUpperCase()}`;
    expect(await list(clinic.client, path)).toEqual(exactly(paula));
    expect(await list(clinic.client, "/organization_users?email=nobody@example.com")).toEqual(exactly());
    expectRefusal(
      await clinic.client.get("/organization_users?email=paula"),
      400,
      /^email: must be an email/,
    );
  });

  it("finds members by role, also after their roles have changed", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const ann = await clinic.addUser("Ann Assistant", ["provider_assistant"], { assists: [paula.id] });
    const both = await clinic.addUser("Bo Both", ["organization_admin", "provider"]);
    const of = (role: string) => list(clinic.client, `/organization_users?role=${role}`);
    expect(await of("provider")).toEqual(exactly(paula, both));
    expect(await of("provider_assistant")).toEqual(exactly(ann));
    expect(await of("organization_admin")).toEqual(exactly(clinic.admin, both));
    await given(
      clinic.client.put(`/organization_users/${both.id}`, {
        organization_user: { roles: ["provider_assistant"] },
      }),
    );
    expectGone(await clinic.client.delete(`/organization_users/${paula.id}`));
    expect(await of("provider")).toEqual(exactly());
    expect(await of("provider_assistant")).toEqual(exactly(ann, both));
    expectRefusal(await clinic.client.get("/organization_users?role=owner"), 400, /^role: must be one of/);
  });

  it("returns only members who match all filters and are within the client's reach", async () => {
    const clinic = await anOrganization();
    const [paula, petra] = [await clinic.addProvider(), await clinic.addProvider("Petra Provider")];
    const ann = await clinic.addUser("Ann Assistant", ["provider_assistant"], { assists: [paula.id] });
    const anns = await clinic.addClient(ann.id);
    for (const client of [clinic.client, anns]) {
      expect(await list(client, `/organization_users?role=provider&email=${paula.email}`)).toEqual(
        exactly(paula),
      );
      expect(await list(client, `/organization_users?role=provider&email=${ann.email}`)).toEqual(exactly());
    }
    expect(await list(anns, "/organization_users?role=provider")).toEqual(exactly(paula));
    expect(await list(anns, `/organization_users?email=${petra.email}`)).toEqual(exactly());
  });
});

describe("GET /waiting_rooms", () => {
  it("finds rooms by name, ignoring case in any alphabet", async () => {
    const clinic = await anOrganization();
    const rooms: { id: number }[] = [];
    for (const name of ["Übung", "ÜBUNG", "U\u0308bung", "Übungen", "ΟΔΟΣ", "Straße"])
      rooms.push(await clinic.addRoom({ name }));
    const named = (name: string) => list(clinic.client, `/waiting_rooms?name=${encodeURIComponent(name)}`);
    expect(await named(" übung ")).toEqual(exactly(...rooms.slice(0, 3)));
    expect(await named("οδος")).toEqual(exactly(...rooms.slice(4, 5)));
    expect(await named("STRASSE")).toEqual(exactly(...rooms.slice(5)));
    expect(await named("bung")).toEqual(exactly());
    expect(await named("%")).toEqual(exactly());
  });

  it("finds a renamed room by its new name only", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom({ name: "Lungs" });
    const renamed = await given(
      clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: "Heart" } }),
    );
    expect(await list(clinic.client, "/waiting_rooms?name=lungs")).toEqual(exactly());
    expect(await list(clinic.client, "/waiting_rooms?name=heart")).toEqual(exactly(renamed));
  });

  it("returns rooms that match all filters, and no retired rooms", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider("Paula Provider");
    const [personal] = (await given(clinic.client.get(`/waiting_rooms?user_id=${paula.id}`))).waiting_rooms;
    const active = await clinic.addRoom({ name: "Paula Provider" });
    const inactive = await clinic.addRoom({ name: "Paula Provider", is_active: false });
    const retired = await clinic.addRoom({ name: "Paula Provider" });
    expectGone(await clinic.client.delete(`/waiting_rooms/${retired.slug}`));
    const found = (query: string) => list(clinic.client, `/waiting_rooms?${query}`);
    expect(await found("name=paula%20provider")).toEqual(exactly(personal, active, inactive));
    expect(await found("name=paula%20provider&is_active=true")).toEqual(exactly(personal, active));
    expect(await found("is_active=false")).toEqual(exactly(inactive));
    expect(await found(`is_active=true&user_id=${paula.id}`)).toEqual(exactly(personal));
    expect(await found(`is_active=false&user_id=${paula.id}`)).toEqual(exactly());
    expect(await found(`id=${active.id}&is_active=false`)).toEqual(exactly());
    expectRefusal(await clinic.client.get("/waiting_rooms?is_active=yes"), 400, /^is_active: must be one of/);
    expect(await list((await anOrganization()).client, `/waiting_rooms?user_id=${paula.id}`)).toEqual(
      exactly(),
    );
  });
});

describe("GET /invites", () => {
  it("finds the unused invite for an email", async () => {
    const clinic = await anOrganization();
    const email = `${unique("ivy")}@example.com`;
    const invite = await clinic.addInvite({ email });
    await clinic.addInvite();
    await (await anOrganization()).addInvite({ email });
    const found = (query: string) => list(clinic.client, `/invites?email=${email.toUpperCase()}${query}`);
    expect(await found("")).toEqual(exactly(invite));
    expect(await found("&status=expired")).toEqual(exactly());
    expectGone(await clinic.client.delete(`/invites/${invite.id}`));
    expect(await found("")).toEqual(exactly());
  });
});

describe("DELETE /invites/{id}", () => {
  it("refuses invites whose roles the client may not assign", async () => {
    const clinic = await anOrganization();
    const client = await clinic.addClient((await clinic.addProvider()).id);
    const high = await clinic.addInvite({ role_names: ["organization_admin"] });
    const low = await clinic.addInvite({ role_names: ["provider"] });
    expectRefusal(
      await client.delete(`/invites/${high.id}`),
      422,
      /^roles: organization_admin is above your/,
    );
    expect((await given(clinic.client.get(`/invites/${high.id}`))).id).toBe(high.id);
    expectGone(await client.delete(`/invites/${low.id}`));
    expectGone(await clinic.client.delete(`/invites/${high.id}`));
  });
});

describe("GET /calls and GET /organization_users/{organization_user_id}/calls", () => {
  it("show the results of each call, as the call itself does", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null, external_reference: "visit-1" });
    const assistant = await clinic.addUser("Ann", ["provider_assistant"], { assists: [call.owner.id] });
    const assistants = await clinic.addClient(assistant.id);
    await call.addEgress();
    await call.addEgress();
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await given(call.reportSoapNote({ is_final: false, text: "Well." }));
    const [{ key }] = call.participants;
    const lists = [
      ["/calls", clinic.client],
      ["/calls", assistants],
      ["/calls?external_reference=visit-1", clinic.client],
      [`/organization_users/${call.owner.id}/calls`, clinic.client],
    ] as const;
    const expectListed = async (results: object) => {
      expect((await given(clinic.client.get(call.path))).results).toEqual(results);
      for (const [path, client] of lists)
        expect((await given(client.get(path))).calls).toMatchObject([{ id: call.id, results }]);
    };
    await expectListed({ transcript: "pending", soap_note: "pending", egresses: 0 });
    await given(call.report({ ended_at: ENDED_AT }));
    await expectListed({ transcript: "ready", soap_note: "pending", egresses: 2 });
    await given(call.report({ participants: [{ key, recording_consent: false }] }));
    await expectListed({ transcript: "ready", soap_note: "pending", egresses: 0 });
  });
});
