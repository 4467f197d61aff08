import { describe, expect, it } from "vitest";
import { platform } from "../../worker/support/api.ts";
import { aCall } from "../../worker/support/calls.ts";
import { aTimestamp, expectRefusal } from "../../worker/support/expectations.ts";
import { anOrganization, given } from "../../worker/support/organization.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";
import { aClinicWithRoom, create, leave, read, update } from "../../worker/support/waiting_rooms.ts";

describe("Waiting room", () => {
  it("slug: generated from name, namespaced to the organization so it stays unique", async () => {
    const clinic = await anOrganization();
    const neighbour = await anOrganization("Heart Clinic", `${clinic.slug}-heart`);
    const room = await clinic.addRoom({ name: "Heart Room" });
    const other = await neighbour.addRoom({ name: "Room" });
    expect(room.slug).toBe(`${clinic.slug}--heart-room`);
    expect(other.slug).toBe(`${clinic.slug}-heart--room`);
    expect((await read(clinic, room.slug)).body).toEqual(room);
    expect((await read(neighbour, other.slug)).body).toEqual(other);
  });

  it("waiting_count: integer, participants currently waiting", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const waiting_since = fromNow(-20);
    for (const key of ["rita", "paul"]) await clinic.addParticipant(room.slug, { waiting_since }, key);
    const waitingCount = async () => (await read(clinic, room.slug)).body.waiting_count;
    expect(await waitingCount()).toBe(2);
    const started_at = fromNow(-10);
    const participants = [{ key: "rita", joined_at: started_at }];
    await aCall(clinic, { waiting_room_slug: room.slug, started_at, ended_at: undefined, participants });
    expect(await waitingCount()).toBe(1);
    await leave(room.slug, "paul");
    expect(await waitingCount()).toBe(0);
  });

  it("Renaming a room changes its slug, and links shared earlier stop resolving.", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const renamed = await update(clinic, room.slug, { name: "Heart Centre" });
    expect(renamed.body.slug).toBe(`${clinic.slug}--heart-centre`);
    expectRefusal(await read(clinic, room.slug), 404);
    expectRefusal(await platform.get(`/waiting_rooms/${room.slug}`), 404);
    expect((await read(clinic, renamed.body.slug)).body).toEqual(renamed.body);
  });
});

describe("GET /waiting_rooms", () => {
  it("query page (integer, default 1), per_page (integer, default 25)", async () => {
    const clinic = await anOrganization();
    const rooms = await Promise.all(Array.from({ length: 26 }, () => clinic.addRoom()));
    const ordered = rooms.toSorted((one, other) => one.id - other.id);
    for (const [query, shown] of [
      ["", ordered.slice(0, 25)],
      ["?page=2", ordered.slice(25)],
      ["?page=3&per_page=10", ordered.slice(20)],
    ])
      expect((await given(clinic.client.get(`/waiting_rooms${query}`))).waiting_rooms).toEqual(shown);
  });

  it("{waiting_rooms: [waiting room], pagination}", async () => {
    const clinic = await anOrganization();
    const zebra = await clinic.addRoom({ name: "Zebra" });
    const provider = await clinic.addProvider("Paula Provider");
    const aardvark = await clinic.addRoom({ name: "Aardvark" });
    const { body } = await clinic.client.get("/waiting_rooms");
    expect(body).toEqual({
      waiting_rooms: [zebra, (await read(clinic, provider.waiting_room_slug)).body, aardvark],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 3 },
    });
  });
});

describe("GET /waiting_rooms/{slug}", () => {
  it("path slug; waiting room object: organization_id is null for personal rooms, user_id is the owner user, user.display_name the owner's", async () => {
    const clinic = await anOrganization();
    const { user_id, waiting_room_slug: slug } = await clinic.addProvider("Paula Provider");
    const user = { display_name: "Paula Provider" };
    expect(await given(read(clinic, slug))).toMatchObject({ organization_id: null, user_id, slug, user });
  });
});

describe("POST /waiting_rooms", () => {
  it("waiting_room object: name (string, required), theme (string, optional), is_active (boolean, optional, default false)", async () => {
    const clinic = await anOrganization();
    expectRefusal(await create(clinic, { theme: "dark" }), 422, "waiting_room.name: is required");
    expectRefusal(await clinic.client.post("/waiting_rooms", {}), 422, "waiting_room: is required");
    const room = { name: "Lungs", theme: "Dark Blue, 2", is_active: true };
    expect(await create(clinic, room)).toMatchObject({ status: 201, body: room });
  });

  it("waiting room object; always owned by the organization", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const created = await create(clinic, { name: "Cardiology" });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(Number),
      organization_id: clinic.id,
      user_id: null,
      name: "Cardiology",
      slug: `${clinic.slug}--cardiology`,
      theme: "default",
      is_active: false,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
      waiting_count: 0,
      user: { display_name: "Riverside Clinic" },
    });
    expect((await read(clinic, created.body.slug)).body).toEqual(created.body);
  });
});

describe("PUT /waiting_rooms/{slug}", () => {
  it("waiting_room object (required) with optional name, theme, is_active", async () => {
    const { clinic, room } = await aClinicWithRoom({ theme: "calm", is_active: true });
    const path = `/waiting_rooms/${room.slug}`;
    expectRefusal(await clinic.client.put(path, {}), 422, "waiting_room: is required");
    let known = room;
    for (const change of [{ theme: "dark" }, { is_active: false }, {}]) {
      const updated_at = fromNow(5);
      travelTo(updated_at);
      known = { ...known, ...change, updated_at };
      expect((await update(clinic, room.slug, change)).body).toEqual(known);
      expect((await read(clinic, room.slug)).body).toEqual(known);
    }
  });
});

describe("Waiting rooms", () => {
  it("The slug cannot be sent in create or update", async () => {
    const { clinic, room } = await aClinicWithRoom({ theme: "calm" });
    await changingNothing(async () => {
      for (const slug of ["front-door", "", null, room.slug]) {
        const change = { name: "Heart Centre", slug };
        expectRefusal(await update(clinic, room.slug, change), 422, /waiting_room\.slug/);
        expectRefusal(await create(clinic, change), 422, /waiting_room\.slug/);
      }
    });
  });
});
