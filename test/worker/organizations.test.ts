import { describe, expect, it } from "vitest";
import { platform } from "./support/door.ts";
import { aTimestamp, expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, unique } from "./support/organization.ts";

const create = (organization: object) => platform.post("/organizations", { organization });

/** A name that no other organization of this run has, so that its slug is free too. */
const aName = (word = "Clinic") => unique(word);

describe("Creating an organization", () => {
  it("uses the given name and slug", async () => {
    const slug = unique("org");
    const created = await create({ name: "Riverside Clinic", slug });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(Number),
      name: "Riverside Clinic",
      slug,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
    });
  });

  it("makes the slug from the name if no slug is given", async () => {
    const word = unique("clinic");
    expect((await create({ name: `Ärzte & ${word}` })).body.slug).toBe(`aerzte-and-${word}`);
  });

  it("adds a number to the slug if it is taken", async () => {
    const name = aName("clinic");
    const slugs = [];
    for (let count = 0; count < 3; count++) slugs.push((await create({ name })).body.slug);
    expect(slugs).toEqual([name, `${name}-2`, `${name}-3`]);
  });

  it("says why a slug cannot have two hyphens", async () => {
    const refused = await create({ name: "Clinic", slug: "river--side" });
    expectRefusal(refused, 422, /^organization\.slug: must not contain --/);
  });

  it.each([
    ["with hyphens", "River -- Side --"],
    ["of which nothing is left", "!!!"],
    ["as long as can be", "n".repeat(255)],
    ["whose cut would end in a hyphen", "a ".repeat(127)],
  ])("makes a valid slug from a name %s, every time", async (_, name) => {
    const first = await create({ name });
    const second = await create({ name });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.slug).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(second.body.slug).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(first.body.slug + second.body.slug).not.toContain("--");
    expect(second.body.slug).not.toBe(first.body.slug);
  });

  it("trims the name, and several organizations can have the same name", async () => {
    const first = await create({ name: " Riverside Clinic ", slug: unique("org") });
    const second = await create({ name: "Riverside Clinic", slug: unique("org") });
    expect(first).toMatchObject({ status: 201, body: { name: "Riverside Clinic" } });
    expect(second).toMatchObject({ status: 201, body: { name: "Riverside Clinic" } });
    expect(second.body.id).not.toBe(first.body.id);
  });

  it("accepts a slug of 63 characters and a name of 255", async () => {
    const slug = unique("org").padEnd(63, "-0");
    const name = "é".repeat(255);
    expect(await create({ name, slug })).toMatchObject({ status: 201, body: { name, slug } });
  });

  it("ignores unknown keys", async () => {
    const slug = unique("org");
    const created = await create({ name: "Clinic", slug, id: 1, created_at: "2020-01-01T00:00:00.000Z" });
    expect(created.status).toBe(201);
    expect(created.body.id).not.toBe(1);
    expect(created.body.created_at).not.toBe("2020-01-01T00:00:00.000Z");
  });

  it("refuses a slug that is taken, and does not change its organization", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    expectRefusal(await create({ name: "Usurper", slug: clinic.slug }), 422, /organization\.slug/);
    const room = await clinic.addRoom();
    expect(room.organization_id).toBe(clinic.id);
    expect(room.user.display_name).toBe("Riverside Clinic");
  });

  it("also refuses a slug that was made from a name", async () => {
    const name = aName("clinic");
    await given(create({ name }));
    expectRefusal(await create({ name: "Usurper", slug: name }), 422, /organization\.slug/);
  });

  it.each([
    ["an empty slug", ""],
    ["a slug with two hyphens", "river--side"],
    ["a slug of hyphens", "---"],
    ["a null slug", null],
    ["a slug that is a number", 63],
    ["a slug with capitals", "Riverside"],
    ["a slug with a space", "river side"],
    ["a slug with an underscore", "river_side"],
    ["a slug with an umlaut", "flußufer"],
    ["a slug of 64 characters", "s".repeat(64)],
  ])("refuses %s, and creates no organization with this name", async (_, slug) => {
    const name = aName("clinic");
    expectRefusal(await create({ name, slug }), 422, /organization\.slug/);
    expect((await create({ name })).body.slug).toBe(name);
  });

  it.each([
    ["a missing name", {}],
    ["a blank name", { name: "  " }],
    ["a null name", { name: null }],
    ["a name that is no text", { name: ["Clinic"] }],
    ["a name of 256 characters", { name: "n".repeat(256) }],
  ])("refuses %s, and leaves the slug free", async (_, fault) => {
    const slug = unique("org");
    expectRefusal(await create({ slug, ...fault }), 422, /organization\.name/);
    expect((await create({ name: "Clinic", slug })).status).toBe(201);
  });

  it("refuses a body without its wrapper, and leaves the slug free", async () => {
    const slug = unique("org");
    expectRefusal(await platform.post("/organizations", { name: "Clinic", slug }), 422, /organization/);
    expect((await create({ name: "Clinic", slug })).status).toBe(201);
  });
});
