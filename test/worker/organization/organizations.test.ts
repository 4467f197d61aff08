import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const create = (organization: object) => platform.post("/organizations", { organization });

const update = (id: number | string, organization: object) =>
  platform.put(`/organizations/${id}`, { organization });

describe("POST /organizations", () => {
  it("makes a valid and unique slug from any name", async () => {
    for (const name of ["River -- Side --", "!!!", "n".repeat(255), "a ".repeat(127)]) {
      const slugs = [await given(create({ name })), await given(create({ name }))].map(({ slug }) => slug);
      for (const slug of slugs) expect(slug).toMatch(/^(?!.*--)[a-z0-9-]{1,63}$/);
      expect(slugs[1]).not.toBe(slugs[0]);
    }
  });

  it("adds the number after the highest one to a slug that is taken", async () => {
    const slug = `aerzte-and-${unique("clinic")}`;
    await given(create({ name: "Clinic", slug: `${slug}-41` }));
    const slugs = [];
    for (let count = 0; count < 3; count++)
      slugs.push((await create({ name: slug.replace("aerzte-and-", "Ärzte & ") })).body.slug);
    expect(slugs).toEqual([slug, `${slug}-42`, `${slug}-43`]);
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

  it("refuses a slug that is taken, even one made from a name, and leaves its organization unchanged", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const { slug: made } = await given(create({ name: unique("clinic") }));
    for (const slug of [clinic.slug, made])
      expectRefusal(await create({ name: "Usurper", slug }), 422, /organization\.slug/);
    expect(await clinic.addRoom()).toMatchObject({
      organization_id: clinic.id,
      user: { display_name: "Riverside Clinic" },
    });
  });
});

it("GET and PUT /organization take the address of the web app back as it is shown, and no other one", async () => {
  const { client } = await anOrganization();
  const organization = await given(client.get("/organization"));
  await given(client.put("/organization", { organization }));
  const other = { organization: { app_url: "https://elsewhere.test" } };
  expectRefusal(
    await changingNothing(() => client.put("/organization", other)),
    422,
    /^organization\.app_url: cannot be changed here/,
  );
});

it("The time zone of an organization is the name of one, not an offset or an abbreviation", async () => {
  const { id } = await anOrganization();
  for (const time_zone of ["America/Argentina/Buenos_Aires", "Etc/GMT-14", "UTC", null])
    expect(await given(update(id, { time_zone }))).toMatchObject({ time_zone });
  for (const time_zone of ["+02:00", "GMT+2", "Mars/Olympus", "IST", "europe/berlin", "", " UTC", 2])
    expectRefusal(await update(id, { time_zone }), 422, /^organization\.time_zone: must be .*Europe\/Berlin/);
});

it("GET /organizations lists every organization as it is now, by id", async () => {
  const list = async (query: string) => given(platform.get(`/organizations${query}`));
  const created = [];
  for (let n = 0; n < 3; n++) created.push(await given(create({ name: unique("clinic") })));
  created[1] = await given(update(created[1].id, { recording_retention_days: 30 }));
  const { pagination } = await list("?per_page=3");
  const shown = [];
  for (let page = 1; page <= pagination.total_pages; page++)
    shown.push(...(await list(`?per_page=3&page=${page}`)).organizations);
  expect(shown.slice(-3)).toEqual(created);
  const ids = shown.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});
