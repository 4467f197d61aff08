import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aClinicWithRoom, create, listed, read, retire, update } from "../support/waiting_rooms.ts";
import { throughWorkerWith } from "../support/worker.ts";

describe("POST /waiting_rooms", () => {
  it("trims texts, and ignores unknown keys such as user_id", async () => {
    const clinic = await anOrganization();
    const created = await create(clinic, {
      name: "  Cardiology ",
      theme: " Dark Blue, 2 ",
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
  ])("is made from the organization's slug and the name: %s gives %s", async (name, kebab) => {
    const clinic = await anOrganization();
    expect((await create(clinic, { name })).body.slug).toBe(`${clinic.slug}--${kebab}`);
  });

  it("gets a number if it is taken, even by a personal room, and also when a room is renamed", async () => {
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

  it("is not reused after its room was renamed or retired", async () => {
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

  it("takes the plain form when the room is renamed, if no room ever had it", async () => {
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
    "for the name %s gets the number after the highest one if other names end in %s",
    async (name, _, others, expected) => {
      const clinic = await anOrganization();
      for (const other of others) await clinic.addRoom({ name: other });
      for (const kebab of expected)
        expect((await create(clinic, { name })).body.slug).toMatch(new RegExp(`^${clinic.slug}--${kebab}$`));
    },
  );

  it("is unique for 100 rooms with one name that are created at once", async () => {
    const clinic = await anOrganization();
    const made = await Promise.all(Array.from({ length: 100 }, () => create(clinic, { name: "Lab" })));
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    expect(new Set(made.map(({ body }) => body.slug)).size).toBe(100);
  });

  it("stays if an update repeats the current name", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology" });
    const second = await clinic.addRoom({ name: "Cardiology" });
    expectGone(await retire(clinic, room.slug));
    const updated = await update(clinic, second.slug, { name: "Cardiology", theme: "dark" });
    expect(updated.body).toMatchObject({ slug: second.slug, theme: "dark" });
  });

  it("cannot be assigned twice by any SQL statement", async () => {
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

describe("GET /waiting_rooms", () => {
  it("filters by id, and shows the current slug", async () => {
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

  it("lists nothing for the id of no room, a retired room, or another organization's room", async () => {
    const [{ clinic, room }, other] = [await aClinicWithRoom(), await aClinicWithRoom()];
    await given(retire(clinic, room.slug));
    for (const id of [room.id, other.room.id, 999_999_999, "9".repeat(30)])
      expect(await given(clinic.client.get(`/waiting_rooms?id=${id}`))).toEqual({
        waiting_rooms: [],
        pagination: { current_page: 1, per_page: 25, total_pages: 0, total_count: 0 },
      });
  });
});

describe("WAITING_ROOM_THEMES", () => {
  /** A clinic whose Worker has the operator's list of themes. */
  async function aClinicWithThemes(themes: string) {
    const clinic = await anOrganization();
    const client = clinic.client.through(throughWorkerWith({ WAITING_ROOM_THEMES: themes }));
    return { ...clinic, client: { ...clinic.client, ...client } };
  }

  it("allows the listed themes, and still gives a room without a theme the default one", async () => {
    const clinic = await aClinicWithThemes("calm,dark");
    expect((await create(clinic, { name: "Lungs" })).body.theme).toBe("default");
    const created = await create(clinic, { name: "Cardiology", theme: "calm" });
    expect(created.status).toBe(201);
    const updated = await update(clinic, created.body.slug, { theme: "dark" });
    expect(updated.body.theme).toBe("dark");
  });

  it("lets a room keep a theme that is no longer listed, but not choose one", async () => {
    const clinic = await aClinicWithThemes("default,calm");
    // addRoom uses the client without the setting, as before the operator made the list.
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

describe("A personal waiting room", () => {
  it("is active, has its owner's name, and is listed", async () => {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider("Paula Provider");
    const { body } = await read(clinic, provider.waiting_room_slug);
    expect(body).toMatchObject({
      id: expect.any(Number),
      name: "Paula Provider",
      slug: `${clinic.slug}--paula-provider`,
      theme: "default",
      is_active: true,
      created_at: aTimestamp,
      updated_at: body.created_at,
      waiting_count: 0,
    });
    expect(await listed(clinic)).toContainEqual(body);
  });

  it("can be updated, and still belongs to its owner", async () => {
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
    expect((await read(clinic, updated.body.slug)).body).toEqual(updated.body);
  });
});

describe("The waiting_count of a room", () => {
  it("is the same in the list, after an update, and in the platform API", async () => {
    const { clinic, room } = await aClinicWithRoom();
    await clinic.addParticipant(room.slug);
    expect(await listed(clinic)).toContainEqual({ ...room, waiting_count: 1 });
    expect((await update(clinic, room.slug, { theme: "dark" })).body.waiting_count).toBe(1);
    expect((await platform.get(`/waiting_rooms/${room.slug}`)).body.waiting_room.waiting_count).toBe(1);
  });
});
