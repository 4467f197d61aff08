import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const create = (organization: object) => platform.post("/organizations", { organization });

const update = (id: number | string, organization: object) =>
  platform.put(`/organizations/${id}`, { organization });

/** A name that no other organization of this run has, so that its slug is free as well. */
const aName = (word = "Clinic") => unique(word);

describe("POST /organizations", () => {
  it("uses the given name and slug", async () => {
    const slug = unique("org");
    const created = await create({ name: "Riverside Clinic", slug });
    expect(created.body).toEqual({
      id: expect.any(Number),
      name: "Riverside Clinic",
      slug,
      recording_retention_days: null,
      transcript_retention_days: null,
      participant_retention_days: null,
      require_acting_user: false,
      region: null,
      time_zone: null,
      patient_identifier_system: null,
      is_suspended: false,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
    });
  });

  it("makes the slug from the name by default", async () => {
    const word = unique("clinic");
    expect((await create({ name: `Ärzte & ${word}` })).body.slug).toBe(`aerzte-and-${word}`);
  });

  it.each([
    ["with hyphens", "River -- Side --"],
    ["without letters and digits", "!!!"],
    ["of the maximum length", "n".repeat(255)],
    ["that would be cut after a hyphen", "a ".repeat(127)],
  ])("makes a valid and unique slug from a name %s", async (_, name) => {
    const first = await create({ name });
    const second = await create({ name });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.slug).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(second.body.slug).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(first.body.slug + second.body.slug).not.toContain("--");
    expect(second.body.slug).not.toBe(first.body.slug);
  });

  it("adds the number after the highest one to a slug that is taken", async () => {
    const name = aName("clinic");
    await given(create({ name, slug: `${name}-41` }));
    const slugs = [];
    for (let count = 0; count < 3; count++) slugs.push((await create({ name })).body.slug);
    expect(slugs).toEqual([name, `${name}-42`, `${name}-43`]);
  });

  it("keeps slugs within 63 characters, even when the numbers have run out", async () => {
    const stem = unique("n".repeat(40)).padEnd(54, "n");
    const name = stem.padEnd(255, "n");
    await given(create({ name: "Clinic", slug: `${stem}-999999` }));
    const slugs = [];
    for (let count = 0; count < 4; count++) slugs.push((await create({ name })).body.slug);
    const random = expect.stringMatching(new RegExp(`^${stem}-[0-9a-f]{8}$`));
    expect(slugs).toEqual([stem, `${stem}-1000000`, random, random]);
    expect(new Set(slugs).size).toBe(4);
  });

  it("trims the name, which need not be unique", async () => {
    const first = await create({ name: " Riverside Clinic ", slug: unique("org") });
    const second = await create({ name: "Riverside Clinic", slug: unique("org") });
    expect(first).toMatchObject({ status: 201, body: { name: "Riverside Clinic" } });
    expect(second).toMatchObject({ status: 201, body: { name: "Riverside Clinic" } });
    expect(second.body.id).not.toBe(first.body.id);
  });

  it("refuses a slug that is taken, even one made from a name, and leaves its organization unchanged", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const { slug: made } = await given(create({ name: aName("clinic") }));
    for (const slug of [clinic.slug, made])
      expectRefusal(await create({ name: "Usurper", slug }), 422, /organization\.slug/);
    const room = await clinic.addRoom();
    expect(room.organization_id).toBe(clinic.id);
    expect(room.user.display_name).toBe("Riverside Clinic");
  });
});

describe("PUT /organizations/{id}", () => {
  it("does not change the slug of the organization or of its rooms", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom({ name: "Cardiology" });
    const other = { name: "Hillside Clinic", slug: unique("other") };
    expectRefusal(await changingNothing(() => update(clinic.id, other)), 422, /organization\.slug/);
    const renamed = await given(update(clinic.id, { ...other, slug: clinic.slug }));
    expect(renamed).toMatchObject({ name: "Hillside Clinic", slug: clinic.slug });
    const { slug, user } = await given(clinic.client.get(`/waiting_rooms/${room.slug}`));
    expect({ slug, user }).toEqual({ slug: room.slug, user: { display_name: "Hillside Clinic" } });
    expect((await clinic.addRoom({ name: "Oncology" })).slug).toBe(`${clinic.slug}--oncology`);
  });
});

describe("GET /organizations", () => {
  const list = async (query: string) => given(platform.get(`/organizations${query}`));

  it("lists every organization as it is now, by id", async () => {
    const created = [];
    for (let n = 0; n < 3; n++) created.push(await given(create({ name: aName() })));
    created[1] = await given(update(created[1].id, { recording_retention_days: 30 }));
    const { pagination } = await list("?per_page=3");
    const shown = [];
    for (let page = 1; page <= pagination.total_pages; page++)
      shown.push(...(await list(`?per_page=3&page=${page}`)).organizations);
    expect(shown.slice(-3)).toEqual(created);
    const ids = shown.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  it("does not count an organization whose creation was refused", async () => {
    const { pagination: before } = await list("");
    expectRefusal(await create({ name: " " }), 422);
    const { slug } = await given(create({ name: aName() }));
    expectRefusal(await create({ name: "Usurper", slug }), 422);
    expect((await list("")).pagination.total_count).toBe(before.total_count + 1);
  });
});
