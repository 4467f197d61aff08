import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aClinicWithRoom, create, read, update } from "../support/waiting_rooms.ts";
import { throughWorkerWith } from "../support/worker.ts";

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

describe("WAITING_ROOM_THEMES", () => {
  /** A clinic whose Worker has the operator's list of themes. */
  async function aClinicWithThemes(WAITING_ROOM_THEMES: string) {
    const clinic = await anOrganization();
    const client = clinic.client.through(throughWorkerWith({ WAITING_ROOM_THEMES }));
    return { ...clinic, client: { ...clinic.client, ...client } };
  }

  it("allows the listed themes, and still gives a room without a theme the default one", async () => {
    const clinic = await aClinicWithThemes("calm,dark");
    expect((await create(clinic, { name: "Lungs" })).body.theme).toBe("default");
    const { slug, theme } = await given(create(clinic, { name: "Cardiology", theme: "calm" }));
    expect(theme).toBe("calm");
    expect((await update(clinic, slug, { theme: "dark" })).body.theme).toBe("dark");
  });

  it("lets a room keep a theme that is no longer listed, but not choose one", async () => {
    const clinic = await aClinicWithThemes("default,calm");
    // addRoom uses the client without the setting, as before the operator made the list.
    const { slug: lungs } = await clinic.addRoom({ name: "Lungs" });
    const { slug, ...room } = await clinic.addRoom({ name: "Cardiology", theme: "dark" });
    const kept = await given(update(clinic, slug, { ...room, is_active: false }));
    expect(kept).toMatchObject({ slug, theme: "dark", is_active: false });
    const theme = /^waiting_room\.theme: must be one of default, calm$/;
    expectRefusal(await update(clinic, slug, { theme: "darker" }), 422, theme);
    expectRefusal(await update(clinic, lungs, { theme: "dark" }), 422, theme);
    const created = await changingNothing(() => create(clinic, { name: "Eyes", theme: "dark" }));
    expectRefusal(created, 422, theme);
    expectRefusal(await update(clinic, `${slug}-nowhere`, { theme: "dark" }), 404);
    expect((await read(clinic, slug)).body).toEqual(kept);
  });
});
