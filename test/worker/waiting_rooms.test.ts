import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { reportCall } from "./support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";
import { throughWorkerWith } from "./support/worker.ts";

const create = ({ client }: Organization, waiting_room: object) =>
  client.post("/waiting_rooms", { waiting_room });

const read = ({ client }: Organization, slug: string) => client.get(`/waiting_rooms/${slug}`);

const update = ({ client }: Organization, slug: string, waiting_room: object) =>
  client.put(`/waiting_rooms/${slug}`, { waiting_room });

const retire = ({ client }: Organization, slug: string) => client.delete(`/waiting_rooms/${slug}`);

const leave = (slug: string, participant: string) =>
  given(
    platform.put(`/waiting_rooms/${slug}/participants/${participant}`, {
      participant: { left_at: fromNow(-1) },
    }),
  );

async function listed({ client }: Organization) {
  return (await given(client.get("/waiting_rooms"))).waiting_rooms;
}

/** A clinic and a room of it, active unless said otherwise. */
async function aClinicWithRoom(room: object = {}) {
  const clinic = await anOrganization();
  return { clinic, room: await clinic.addRoom(room) };
}

describe("Creating a waiting room", () => {
  it("makes it inactive, with the default theme, owned by the organization", async () => {
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

  it("uses the given theme and state, trims texts, and ignores unknown keys: nobody can create a personal room", async () => {
    const clinic = await anOrganization();
    const created = await create(clinic, {
      name: "  Cardiology ",
      theme: " Dark Blue, 2 ",
      is_active: true,
      id: 999_999,
      organization_id: null,
      user_id: clinic.admin.user_id,
      waiting_count: 9,
      user: { display_name: "Somebody Else" },
    });
    expect(created).toMatchObject({
      status: 201,
      body: {
        name: "Cardiology",
        slug: `${clinic.slug}--cardiology`,
        theme: "Dark Blue, 2",
        is_active: true,
        organization_id: clinic.id,
        user_id: null,
        waiting_count: 0,
        user: { display_name: clinic.name },
      },
    });
    expect(created.body.id).not.toBe(999_999);
  });
});

describe("The slug of a waiting room", () => {
  it.each([
    ["Cardiology & Lung Care", "cardiology-and-lung-care"],
    ["Hals, Nasen -- Ohren", "hals-nasen-ohren"],
    ["Ärztezimmer Groß", "aerztezimmer-gross"],
    ["Crème Brûlée Łódź", "creme-brulee-lodz"],
    ["Кардиология", "kardiologiya"],
    ["iOS Team", "ios-team"],
    ["Room 12", "room-12"],
    ["!!!", "room"],
  ])("is made of the organization's slug and the name: %s gives %s", async (name, kebab) => {
    const clinic = await anOrganization();
    expect((await create(clinic, { name })).body.slug).toBe(`${clinic.slug}--${kebab}`);
  });

  it("gets a number if it is taken, also by a personal room, and also when a room is renamed", async () => {
    const clinic = await anOrganization();
    const personal = await clinic.addProvider("Cardiology");
    const slugs = [personal.waiting_room_slug];
    for (const name of ["Cardiology", "cardiology!"]) slugs.push((await create(clinic, { name })).body.slug);
    const lungs = await clinic.addRoom({ name: "Lungs" });
    slugs.push((await update(clinic, lungs.slug, { name: "Cardiology" })).body.slug);
    const plain = `${clinic.slug}--cardiology`;
    expect(slugs).toEqual([plain, `${plain}-2`, `${plain}-3`, `${plain}-4`]);
    expect((await given(read(clinic, plain))).user_id).toBe(personal.user_id);
  });

  it("is never what another organization could have, even if the organizations' slugs are similar", async () => {
    const clinic = await anOrganization();
    const neighbour = await anOrganization("Heart Clinic", `${clinic.slug}-heart`);
    const room = await clinic.addRoom({ name: "Heart Room" });
    const other = await neighbour.addRoom({ name: "Room" });
    expect(room.slug).toBe(`${clinic.slug}--heart-room`);
    expect(other.slug).toBe(`${clinic.slug}-heart--room`);
    expect((await read(clinic, room.slug)).body).toEqual(room);
    expect((await read(neighbour, other.slug)).body).toEqual(other);
  });

  it("changes when the room is renamed, and links to the old one stop working", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const renamed = await update(clinic, room.slug, { name: "Heart Centre" });
    expect(renamed.body).toEqual({
      ...room,
      name: "Heart Centre",
      slug: `${clinic.slug}--heart-centre`,
      updated_at: aTimestamp,
    });
    expectRefusal(await read(clinic, room.slug), 404);
    expectRefusal(await clinic.client.get(`/waiting_rooms/${room.slug}/waiting_room_subs`), 404);
    expectRefusal(await platform.get(`/waiting_rooms/${room.slug}`), 404);
    expect((await read(clinic, renamed.body.slug)).body).toEqual(renamed.body);
  });

  it("that a renamed or retired room had is not given to another room", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const other = await clinic.addRoom({ name: "Lungs" });
    const renamed = await given(update(clinic, room.slug, { name: "Heart Centre" }));
    expectGone(await retire(clinic, renamed.slug));
    for (const { slug } of [room, renamed]) {
      expectRefusal(await read(clinic, slug), 404);
      expectRefusal(await platform.get(`/waiting_rooms/${slug}`), 404);
    }
    expect((await create(clinic, { name: "Cardiology" })).body.slug).toBe(`${room.slug}-2`);
    expect((await create(clinic, { name: "Heart Centre" })).body.slug).toBe(`${renamed.slug}-2`);
    expect((await update(clinic, other.slug, { name: "Cardiology" })).body.slug).toBe(`${room.slug}-3`);
    expect((await clinic.addProvider("Cardiology")).waiting_room_slug).toBe(`${room.slug}-4`);
  });

  it("is a new one if the room is renamed back", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const renamed = await given(update(clinic, room.slug, { name: "Heart Centre" }));
    const back = await given(update(clinic, renamed.slug, { name: "Cardiology" }));
    expect(back.slug).toBe(`${room.slug}-2`);
    expect((await update(clinic, back.slug, { name: "Heart Centre" })).body.slug).toBe(`${renamed.slug}-2`);
    for (const { slug } of [room, renamed, back]) expectRefusal(await read(clinic, slug), 404);
  });

  it("takes the plain form when the room is renamed, if no other room ever had that", async () => {
    const clinic = await anOrganization();
    const second = await clinic.addRoom({ name: "Cardiology 2" });
    const renamed = await update(clinic, second.slug, { name: "Cardiology" });
    expect(renamed.body.slug).toBe(`${clinic.slug}--cardiology`);
    expect((await create(clinic, { name: "Cardiology 2" })).body.slug).toBe(`${clinic.slug}--cardiology-2-2`);
  });

  it.each([
    ["Lab", "2, 3 and 5", ["Lab 2", "Lab 3", "Lab 5"], ["lab", "lab-6", "lab-7"]],
    ["Lab", "5, 4 and 3", ["Lab 5", "Lab 4", "Lab 3"], ["lab", "lab-6", "lab-7"]],
    ["Lab", "1, 007 and one of many digits", ["Lab 1", "Lab 007", `Lab ${"9".repeat(30)}`], ["lab", "lab-2"]],
    ["Lab", "999999", ["Lab 999999"], ["lab", "lab-1000000", "lab-[0-9a-f]{8}", "lab-[0-9a-f]{8}"]],
    ["7", "nothing", [], ["7", "7-2", "7-3"]],
    ["Lab 2", "nothing", [], ["lab-2", "lab-2-2", "lab-2-3"]],
    ["2 2 2", "nothing", [], ["2-2-2", "2-2-2-2", "2-2-2-3"]],
  ])(
    "of the name %s gets one more than the highest number where other names end in %s",
    async (name, _, others, expected) => {
      const clinic = await anOrganization();
      for (const other of others) await clinic.addRoom({ name: other });
      for (const kebab of expected)
        expect((await create(clinic, { name })).body.slug).toMatch(new RegExp(`^${clinic.slug}--${kebab}$`));
    },
  );

  it("is found for each of 100 rooms of one name that are made at once", async () => {
    const clinic = await anOrganization();
    const made = await Promise.all(Array.from({ length: 100 }, () => create(clinic, { name: "Lab" })));
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    expect(new Set(made.map(({ body }) => body.slug)).size).toBe(100);
  });

  it("changes with every change of the name, also where both names have the same form", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "心臓" });
    const renamed = await given(update(clinic, room.slug, { name: "心臓。" }));
    expect(renamed).toMatchObject({ name: "心臓。", slug: `${room.slug}-2` });
    expectRefusal(await read(clinic, room.slug), 404);
  });

  it("stays when an update sends the name that the room already has", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const second = await clinic.addRoom({ name: "Cardiology" });
    expectGone(await retire(clinic, room.slug));
    const updated = await update(clinic, second.slug, { name: "Cardiology", theme: "dark" });
    expect(updated.body).toMatchObject({ slug: second.slug, theme: "dark" });
  });

  it("cannot be given a second time by any statement", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const other = await clinic.addRoom({ name: "Lungs" });
    const renamed = await given(update(clinic, room.slug, { name: "Heart Centre" }));
    for (const { id } of [other, renamed]) {
      const giving = env.DB.prepare("update waiting_rooms set slug = ? where id = ?").bind(room.slug, id);
      await expect(giving.run()).rejects.toThrow("UNIQUE constraint failed: waiting_room_slugs.slug");
    }
    for (const each of [other, renamed]) expect((await read(clinic, each.slug)).body).toEqual(each);
  });
});

describe("Reading waiting rooms", () => {
  it("lists all rooms of the organization by id, including the personal ones", async () => {
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

  it("lists only the room of an id, under the slug that it has now", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const provider = await clinic.addProvider("Paula Provider");
    const byId = ({ id }: { id: number }, query = "") =>
      given(clinic.client.get(`/waiting_rooms?id=${id}${query}`));
    const pagination = { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 };
    expect(await byId(room)).toEqual({ waiting_rooms: [room], pagination });
    const personal = await given(read(clinic, provider.waiting_room_slug));
    expect(await byId(personal)).toEqual({ waiting_rooms: [personal], pagination });
    const renamed = await given(update(clinic, room.slug, { name: "Oncology", is_active: false }));
    expect((await byId(room)).waiting_rooms).toEqual([renamed]);
    expect((await given(clinic.client.get("/waiting_rooms?id="))).waiting_rooms).toEqual([renamed, personal]);
    expect(await byId(room, "&page=2&per_page=1")).toEqual({
      waiting_rooms: [],
      pagination: { ...pagination, current_page: 2, per_page: 1 },
    });
  });

  it("lists no room for an id that is not there: of no room, a retired one, or another organization's", async () => {
    const [{ clinic, room }, other] = [await aClinicWithRoom(), await aClinicWithRoom()];
    await given(retire(clinic, room.slug));
    for (const id of [room.id, other.room.id, 999_999_999, "9".repeat(30)])
      expect(await given(clinic.client.get(`/waiting_rooms?id=${id}`))).toEqual({
        waiting_rooms: [],
        pagination: { current_page: 1, per_page: 25, total_pages: 0, total_count: 0 },
      });
  });
});

describe("Updating a waiting room", () => {
  it("changes what is given, and updated_at each time, and keeps the rest", async () => {
    const { clinic, room } = await aClinicWithRoom({ theme: "calm", is_active: true });
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

  it("accepts what was read, without the slug, and changes only what a client can set", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const { slug, ...rest } = room;
    const updated = await update(clinic, slug, {
      ...rest,
      id: room.id + 1,
      organization_id: null,
      user_id: clinic.admin.user_id,
      created_at: "2020-01-01T00:00:00.000Z",
      waiting_count: 7,
      theme: "dark",
    });
    expect(updated.body).toEqual({ ...room, theme: "dark", updated_at: aTimestamp });
  });

  it.each(["front-door", "", null, undefined])(
    "refuses a slug, also the room's own, and changes nothing, as a creation does: %s",
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

describe("If the operator sets the themes", () => {
  /** The same Worker and database, with the operator's list set. */
  async function aClinicWithThemes(themes: string) {
    const clinic = await anOrganization();
    const client = clinic.client.through(throughWorkerWith({ WAITING_ROOM_THEMES: themes }));
    return { ...clinic, client: { ...clinic.client, ...client } };
  }

  it("accepts those, and still gives the default theme to a room that is created without one", async () => {
    const clinic = await aClinicWithThemes("calm,dark");
    expect((await create(clinic, { name: "Lungs" })).body.theme).toBe("default");
    const created = await create(clinic, { name: "Cardiology", theme: "calm" });
    expect(created.status).toBe(201);
    const updated = await update(clinic, created.body.slug, { theme: "dark" });
    expect(updated.body.theme).toBe("dark");
  });

  it("lets a room keep a theme that is not offered any more, but not choose it", async () => {
    const clinic = await aClinicWithThemes("default,calm");
    // A client without the setting, as the operator's list was before.
    const [{ slug: lungs }, { slug, ...room }] = [
      await clinic.addRoom({ name: "Lungs" }),
      await clinic.addRoom({ name: "Cardiology", theme: "dark" }),
    ];
    const kept = await update(clinic, slug, { ...room, is_active: false });
    expect(kept).toMatchObject({ status: 200, body: { slug, theme: "dark", is_active: false } });
    const theme = /^waiting_room\.theme: must be one of default, calm$/;
    expectRefusal(await update(clinic, slug, { theme: "darker" }), 422, theme);
    expectRefusal(await update(clinic, lungs, { theme: "dark" }), 422, theme);
    const created = await changingNothing(() => create(clinic, { name: "Eyes", theme: "dark" }));
    expectRefusal(created, 422, theme);
    expectRefusal(await update(clinic, `${slug}-nowhere`, { theme: "dark" }), 404);
    expect((await read(clinic, slug)).body).toEqual(kept.body);
  });
});

describe("Retiring a waiting room", () => {
  it.each([
    ["an active", true],
    ["an inactive", false],
  ])("removes %s room from every path, and not another of the same name", async (_, is_active) => {
    const { clinic, room } = await aClinicWithRoom({ is_active });
    await clinic.addRoom({ name: room.name });
    const provider = await clinic.addProvider();
    const before = await listed(clinic);
    expectGone(await retire(clinic, room.slug));

    const path = `/waiting_rooms/${room.slug}`;
    const waiting_room_sub = { user_id: provider.user_id, datetime_start: fromNow(10) };
    const participant = { display_name: "Rita", role: "recipient", waiting_since: fromNow(0) };
    expectRefusal(await clinic.client.get(path), 404);
    expectRefusal(await clinic.client.put(path, { waiting_room: { is_active: true } }), 404);
    expectRefusal(await clinic.client.delete(path), 404);
    expectRefusal(await clinic.client.get(`${path}/waiting_room_subs`), 404);
    expectRefusal(await clinic.client.post(`${path}/waiting_room_subs`, { waiting_room_sub }), 404);
    expectRefusal(await platform.get(path), 404);
    expectRefusal(await platform.put(`${path}/participants/rita`, { participant }), 404);
    expect(await listed(clinic)).toEqual(before.filter(({ id }: { id: number }) => id !== room.id));
    expect((await clinic.client.get("/waiting_rooms")).body.pagination.total_count).toBe(before.length - 1);
  });

  it("keeps the record of the room, with all that it was, for auditing", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology", theme: "calm", is_active: true });
    const record = () =>
      env.DB.prepare("select * from waiting_rooms where id = ?")
        .bind(room.id)
        .first<Record<string, unknown>>();
    const before = await record();
    expect(before).toMatchObject({
      organization_id: clinic.id,
      name: "Cardiology",
      slug: room.slug,
      retired_at: null,
    });
    travelTo(fromNow(5));
    expectGone(await retire(clinic, room.slug));
    expect(await record()).toEqual({ ...before, retired_at: Date.now(), updated_at: expect.any(Number) });
  });

  it("is refused while anybody is in the room, also an inactive one, and possible when the last person has left", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const elsewhere = await clinic.addRoom();
    for (const [slug, key] of [
      [room.slug, "rita"],
      [room.slug, "paul"],
      [elsewhere.slug, "olga"],
    ] as const)
      await clinic.addParticipant(slug, { waiting_since: fromNow(-10) }, key);
    await leave(room.slug, "rita");
    for (const is_active of [true, false]) {
      const known = await given(update(clinic, room.slug, { is_active }));
      expectRefusal(await retire(clinic, room.slug), 422);
      expect((await read(clinic, room.slug)).body).toEqual({ ...known, waiting_count: 1 });
    }
    await leave(room.slug, "paul");
    expectGone(await retire(clinic, room.slug));
    expectRefusal(await read(clinic, room.slug), 404);
    expect((await read(clinic, elsewhere.slug)).body.waiting_count).toBe(1);
  });
});

describe("A personal waiting room", () => {
  it("is active, named after its owner, and shows no organization", async () => {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider("Paula Provider");
    const { body } = await read(clinic, provider.waiting_room_slug);
    expect(body).toEqual({
      id: expect.any(Number),
      organization_id: null,
      user_id: provider.user_id,
      name: "Paula Provider",
      slug: `${clinic.slug}--paula-provider`,
      theme: "default",
      is_active: true,
      created_at: aTimestamp,
      updated_at: body.created_at,
      waiting_count: 0,
      user: { display_name: "Paula Provider" },
    });
    expect(await listed(clinic)).toContainEqual(body);
  });

  it("can be updated like any other, but not retired, and still belongs to its owner", async () => {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider("Paula Provider");
    const before = await given(read(clinic, provider.waiting_room_slug));
    const change = { name: "Evening Visits", theme: "dark", is_active: false };
    const updated = await update(clinic, provider.waiting_room_slug, change);
    expect(updated.body).toEqual({
      ...before,
      ...change,
      slug: `${clinic.slug}--evening-visits`,
      updated_at: aTimestamp,
    });
    expectRefusal(await read(clinic, provider.waiting_room_slug), 404);
    expectRefusal(await retire(clinic, updated.body.slug), 422);
    expect((await read(clinic, updated.body.slug)).body).toEqual(updated.body);
  });
});

describe("The waiting count", () => {
  it("leaves out people who are on a call or were on it when it ended", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const { id } = await clinic.addProvider();
    await clinic.addParticipant(room.slug, { waiting_since: fromNow(-20) }, "rita");
    await clinic.addParticipant(room.slug, { waiting_since: fromNow(-20) }, "paul");
    const key = unique("call");
    const call = {
      waiting_room_slug: room.slug,
      organization_user_id: id,
      started_at: fromNow(-10),
      participants: [{ key: "rita", joined_at: fromNow(-10) }],
    };
    await given(reportCall(clinic, key, call));
    expect((await read(clinic, room.slug)).body.waiting_count).toBe(1);
    await given(reportCall(clinic, key, { ...call, ended_at: fromNow(-1) }));
    expect((await read(clinic, room.slug)).body.waiting_count).toBe(1);
    await leave(room.slug, "paul");
    expectGone(await retire(clinic, room.slug));
  });

  it("is the same in the list, after an update and through the platform API", async () => {
    const { clinic, room } = await aClinicWithRoom();
    await clinic.addParticipant(room.slug);
    expect(await listed(clinic)).toContainEqual({ ...room, waiting_count: 1 });
    expect((await update(clinic, room.slug, { theme: "dark" })).body.waiting_count).toBe(1);
    expect((await platform.get(`/waiting_rooms/${room.slug}`)).body.waiting_room.waiting_count).toBe(1);
  });
});
