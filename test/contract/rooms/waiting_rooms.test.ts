import { describe, expect, it } from "vitest";
import { platform } from "../../worker/support/api.ts";
import { reportCall } from "../../worker/support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "../../worker/support/expectations.ts";
import { anOrganization, given, unique } from "../../worker/support/organization.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";
import { aClinicWithRoom, create, leave, read, retire, update } from "../../worker/support/waiting_rooms.ts";

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
    const { id } = await clinic.addProvider();
    await clinic.addParticipant(room.slug, { waiting_since: fromNow(-20) }, "rita");
    await clinic.addParticipant(room.slug, { waiting_since: fromNow(-20) }, "paul");
    const waitingCount = async () => (await read(clinic, room.slug)).body.waiting_count;
    expect(await waitingCount()).toBe(2);
    const key = unique("call");
    const call = {
      waiting_room_slug: room.slug,
      organization_user_id: id,
      started_at: fromNow(-10),
      participants: [{ key: "rita", joined_at: fromNow(-10) }],
    };
    await given(reportCall(clinic, key, call));
    expect(await waitingCount()).toBe(1);
    await given(reportCall(clinic, key, { ...call, ended_at: fromNow(-1) }));
    expect(await waitingCount()).toBe(1);
    await leave(room.slug, "paul");
    expect(await waitingCount()).toBe(0);
    expectGone(await retire(clinic, room.slug));
  });

  it("Renaming a room changes its slug, and links shared earlier stop resolving.", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const renamed = await update(clinic, room.slug, { name: "Heart Centre" });
    expect(renamed.body.slug).toBe(`${clinic.slug}--heart-centre`);
    expectRefusal(await read(clinic, room.slug), 404);
    expectRefusal(await clinic.client.get(`/waiting_rooms/${room.slug}/waiting_room_subs`), 404);
    expectRefusal(await platform.get(`/waiting_rooms/${room.slug}`), 404);
    expect((await read(clinic, renamed.body.slug)).body).toEqual(renamed.body);
  });
});

describe("GET /waiting_rooms", () => {
  it("query page (integer, default 1), per_page (integer, default 25)", async () => {
    const clinic = await anOrganization();
    const rooms = await Promise.all(Array.from({ length: 26 }, () => clinic.addRoom()));
    const ids = rooms.map(({ id }) => id).toSorted((one, other) => one - other);
    const shown = async (query: string) =>
      (await given(clinic.client.get(`/waiting_rooms${query}`))).waiting_rooms.map(
        ({ id }: { id: number }) => id,
      );
    expect(await shown("")).toEqual(ids.slice(0, 25));
    expect(await shown("?page=2")).toEqual(ids.slice(25));
    expect(await shown("?per_page=10")).toEqual(ids.slice(0, 10));
    expect(await shown("?page=3&per_page=10")).toEqual(ids.slice(20));
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
    const ids = body.waiting_rooms.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other));
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
  it("waiting_room object: name (string, required)", async () => {
    const clinic = await anOrganization();
    await changingNothing(async () => {
      expectRefusal(await create(clinic, { theme: "dark" }), 422, "waiting_room.name: is required");
      expectRefusal(await clinic.client.post("/waiting_rooms", {}), 422, "waiting_room: is required");
    });
  });

  it("theme (string, optional), is_active (boolean, optional, default false)", async () => {
    const clinic = await anOrganization();
    const [plain, set] = [{ name: "Cardiology" }, { name: "Lungs", theme: "Dark Blue, 2", is_active: true }];
    const defaults = { theme: "default", is_active: false };
    expect(await create(clinic, plain)).toMatchObject({ status: 201, body: { ...plain, ...defaults } });
    expect(await create(clinic, set)).toMatchObject({ status: 201, body: set });
  });

  it("waiting room object; always owned by the organization", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const created = await create(clinic, { name: "Cardiology" });
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
    for (const change of [{ theme: "dark" }, { is_active: false }, { theme: "calm", is_active: true }, {}]) {
      travelTo(fromNow(5));
      const updated = await update(clinic, room.slug, change);
      expect(updated.body).toEqual({ ...known, ...change, updated_at: aTimestamp });
      expect(Date.parse(updated.body.updated_at)).toBeGreaterThan(Date.parse(known.updated_at));
      known = updated.body;
      expect((await read(clinic, room.slug)).body).toEqual(known);
    }
  });
});

describe("Waiting rooms", () => {
  it.each(["front-door", "", null, undefined])(
    "The slug cannot be sent in create or update: %s",
    async (other) => {
      const { clinic, room } = await aClinicWithRoom({ theme: "calm" });
      const slug = other === undefined ? room.slug : other;
      await changingNothing(async () => {
        const change = { name: "Heart Centre", theme: "dark", is_active: false, slug };
        expectRefusal(await update(clinic, room.slug, change), 422, /waiting_room\.slug/);
        expectRefusal(await create(clinic, change), 422, /waiting_room\.slug/);
      });
    },
  );
});
