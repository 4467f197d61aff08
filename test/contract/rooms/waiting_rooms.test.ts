import { describe, expect, it } from "vitest";
import { platform } from "../../worker/support/api.ts";
import { reportCall } from "../../worker/support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "../../worker/support/expectations.ts";
import { anOrganization, given, unique } from "../../worker/support/organization.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";
import { aClinicWithRoom, create, leave, read, retire, update } from "../../worker/support/waiting_rooms.ts";

/** A clinic with two rooms: its own, and a provider's personal one. */
async function aClinicWithBothRooms() {
  const { clinic, room } = await aClinicWithRoom();
  const provider = await clinic.addProvider("Paula Provider");
  return { clinic, room, provider, personal: await given(read(clinic, provider.waiting_room_slug)) };
}

describe("Waiting room", () => {
  it("id: integer, unique", async () => {
    const { room, personal } = await aClinicWithBothRooms();
    for (const { id } of [room, personal]) expect(id).toSatisfy(Number.isSafeInteger);
    expect(personal.id).not.toBe(room.id);
  });

  it("organization_id: integer, null for personal rooms", async () => {
    const { clinic, room, personal } = await aClinicWithBothRooms();
    expect(room.organization_id).toBe(clinic.id);
    expect(personal.organization_id).toBeNull();
  });

  it("user_id: integer, owner user; null for organization rooms", async () => {
    const { room, personal, provider } = await aClinicWithBothRooms();
    expect(personal.user_id).toBe(provider.user_id);
    expect(room.user_id).toBeNull();
  });

  it("name: string, human-readable; set by the client", async () => {
    const { room } = await aClinicWithRoom({ name: "Cardiology & Lung Care" });
    expect(room.name).toBe("Cardiology & Lung Care");
  });

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

  it("slug: regenerated whenever name changes", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "心臓" });
    const renamed = await given(update(clinic, room.slug, { name: "心臓。" }));
    expect(renamed).toMatchObject({ name: "心臓。", slug: `${room.slug}-2` });
    expectRefusal(await read(clinic, room.slug), 404);
  });

  it("slug: read-only; cannot be set by the client", async () => {
    const { clinic, room } = await aClinicWithRoom();
    await update(clinic, room.slug, { slug: `${clinic.slug}--front-door` });
    expectRefusal(await read(clinic, `${clinic.slug}--front-door`), 404);
    expect((await read(clinic, room.slug)).body).toEqual(room);
  });

  it("theme: string, theme applied to the room", async () => {
    const { room } = await aClinicWithRoom({ theme: "dark" });
    expect(room.theme).toBe("dark");
  });

  it.each([true, false])("is_active: boolean, whether the room is active: %s", async (is_active) => {
    const { room } = await aClinicWithRoom({ is_active });
    expect(room.is_active).toBe(is_active);
  });

  it("created_at: string, timestamp", async () => {
    const before = fromNow(0);
    const { room } = await aClinicWithRoom();
    expect(room.created_at).toEqual(aTimestamp);
    expect(room.created_at >= before && room.created_at <= fromNow(0)).toBe(true);
  });

  it("updated_at: string, timestamp", async () => {
    const { clinic, room } = await aClinicWithRoom();
    expect(room.updated_at).toBe(room.created_at);
    const later = fromNow(5);
    travelTo(later);
    expect((await update(clinic, room.slug, {})).body.updated_at).toBe(later);
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

  it("user: object, owner info", async () => {
    const { room, personal } = await aClinicWithBothRooms();
    for (const { user } of [room, personal]) expect(user).toEqual({ display_name: expect.any(String) });
  });

  it("user.display_name: owner's display name for personal rooms; the organization name for organization rooms", async () => {
    const { clinic, room, personal } = await aClinicWithBothRooms();
    expect(personal.user).toEqual({ display_name: "Paula Provider" });
    expect(room.user).toEqual({ display_name: clinic.name });
  });

  it("The slug is the room's URL.", async () => {
    const { clinic, room } = await aClinicWithRoom();
    expect((await read(clinic, room.slug)).body).toEqual(room);
    expect((await platform.get(`/waiting_rooms/${room.slug}`)).body.waiting_room.id).toBe(room.id);
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
  it("path slug; waiting room object", async () => {
    const { clinic, room, personal } = await aClinicWithBothRooms();
    for (const { slug, ...rest } of [room, personal])
      expect(await read(clinic, slug)).toMatchObject({ status: 200, body: { slug, ...rest } });
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

  it("updated waiting room object; a changed name regenerates slug", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const name = "Heart Centre";
    const slug = `${clinic.slug}--heart-centre`;
    const updated = await update(clinic, room.slug, { name });
    expect(updated.body).toEqual({ ...room, name, slug, updated_at: aTimestamp });
  });
});

describe("DELETE /waiting_rooms/{slug}", () => {
  it("204, empty", async () => {
    const { clinic, room } = await aClinicWithRoom();
    expectGone(await retire(clinic, room.slug));
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
