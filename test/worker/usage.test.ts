import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { MAX_DAILY_ACCESS_LOGS, MAX_DAILY_WRITES, MAX_WAITING_ROOMS } from "../../src/limits.ts";
import { platform } from "./support/api.ts";
import { aCall } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

const usageOf = async ({ id }: Organization, query = "") =>
  (await given(platform.get(`/organizations/${id}/usage${query}`))).usage;

/** An organization that has stored almost all that it can store on this day. */
async function aBusyDay(column: "writes" | "access_log_entries", value: number) {
  travelTo("2026-11-24T21:59:30Z");
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  await env.DB.prepare(
    `insert into organization_days (organization_id, date, ${column}) values (?1, '2026-11-24', ?2)
     on conflict do update set ${column} = ?2`,
  )
    .bind(clinic.id, value)
    .run();
  return { clinic, call };
}

describe("What an organization stores in a day", () => {
  it("is counted: what its clients write, entries of its access log, and calls", async () => {
    travelTo("2026-11-24T23:59:00Z");
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const [before] = await usageOf(clinic);
    const room = await clinic.addRoom();
    await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { is_active: false } }));
    await given(clinic.client.get(`${call.path}/participants`));
    await given(clinic.client.get("/waiting_rooms"));
    expectRefusal(await clinic.client.delete("/waiting_rooms/nowhere"), 404);
    const { date, writes, access_log_entries, visits } = before;
    expect({ date, visits }).toEqual({ date: "2026-11-24", visits: 1 });
    const day = { date, writes: writes + 2, access_log_entries: access_log_entries + 1, visits };
    expect(await usageOf(clinic)).toEqual([day]);
    travelTo("2026-11-25T00:00:01Z");
    await clinic.addRoom();
    const next = { date: "2026-11-25", writes: 1, access_log_entries: 0, visits: 0 };
    expect(await usageOf(clinic)).toEqual([day, next]);
    expect(await usageOf(clinic, "?to=2026-11-24")).toEqual([day]);
    expect(await usageOf(clinic, "?from=2026-11-25")).toEqual([next]);
    expect(await usageOf(clinic, "?from=2026-11-26")).toEqual([]);
  });

  it("is read for dates in order, and at most ten years", async () => {
    const { id } = await anOrganization();
    const read = (query: string) => platform.get(`/organizations/${id}/usage?${query}`);
    expectRefusal(await read("from=2026-02-01&to=2026-01-31"), 400, /^from: must not be after to/);
    expectRefusal(await read("from=2000-01-01&to=2026-01-31"), 400, /^from: the range .* at most 3660 days/);
    expectRefusal(await platform.get("/organizations/999999/usage"), 404);
  });

  it.each([
    ["writes", MAX_DAILY_WRITES],
    ["access_log_entries", MAX_DAILY_ACCESS_LOGS],
  ] as const)(
    "never stands in the way of what deletes (%s): a client that leaked can be revoked",
    async (column, most) => {
      const { clinic, call } = await aBusyDay(column, most);
      const { id } = await call.addEgress();
      await given(clinic.client.delete(`${call.path}/egresses/${id}`));
      const leaked = await clinic.addClient((await clinic.addProvider()).id);
      const { api_clients } = await given(clinic.client.get("/api_clients"));
      const [before] = await usageOf(clinic);
      await given(clinic.client.delete(`/api_clients/${api_clients.at(-1).id}`));
      expect((await usageOf(clinic))[0].writes).toBe(before.writes);
      if (column === "access_log_entries")
        expectRefusal(await clinic.client.get(`${call.path}/participants`), 429);
      travelTo("2026-11-24T22:01:00Z");
      expect((await leaked.get("/roles")).status).toBe(401);
      expect(
        (await clinic.client.post("/waiting_rooms", { waiting_room: { name: "Cardiology" } })).status,
      ).toBe(column === "writes" ? 429 : 201);
    },
  );

  it("is at most so many writes of its clients: then 429 until midnight, and nothing is changed", async () => {
    const { clinic } = await aBusyDay("writes", MAX_DAILY_WRITES - 1);
    const make = () => clinic.client.post("/waiting_rooms", { waiting_room: { name: "Cardiology" } });
    expect((await make()).status).toBe(201);
    const refused = await make();
    expectRefusal(refused, 429, /^The organization.s clients have written 20000 times today/);
    const seconds = Number(refused.headers.get("Retry-After"));
    expect(seconds).toBeGreaterThan(2 * 3600);
    expect(seconds).toBeLessThanOrEqual(2 * 3600 + 30);
    await changingNothing(async () => {
      travelTo("2026-11-24T22:30:00Z");
      expectRefusal(await make(), 429);
    });
    travelTo("2026-11-24T22:30:00Z");
    expect((await clinic.client.get("/waiting_rooms")).status).toBe(200);
    await clinic.addProvider();
    expect((await (await anOrganization()).addRoom()).id).toEqual(expect.any(Number));
    travelTo("2026-11-25T00:00:00Z");
    expect((await make()).status).toBe(201);
  });

  it("is at most so many entries of its clients: then nothing is shown without one, and others go on", async () => {
    const { clinic, call } = await aBusyDay("access_log_entries", MAX_DAILY_ACCESS_LOGS - 1);
    const read = () => clinic.client.get(`${call.path}/participants`);
    expect((await read()).status).toBe(200);
    expectRefusal(await read(), 429, /have caused 200000 entries of its access log today/);
    await given(call.hold());
    expect((await clinic.client.get(call.path)).status).toBe(200);
  });

  it("is only what clients do: what the platform changes takes nothing from them", async () => {
    const { clinic, call } = await aBusyDay("access_log_entries", MAX_DAILY_ACCESS_LOGS - 1);
    await given(call.hold());
    await given(call.release());
    expect((await clinic.client.get(`${call.path}/participants`)).status).toBe(200);
  });

  it("is at most so many writes where thirty come at once", async () => {
    const { clinic } = await aBusyDay("writes", MAX_DAILY_WRITES - 10);
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        clinic.client.post("/waiting_rooms", { waiting_room: { name: `Room ${n}` } }),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(made.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});

it("An organization can make so many waiting rooms, also where it has retired some", async () => {
  const clinic = await anOrganization();
  const { slug } = await clinic.addRoom();
  await given(clinic.client.delete(`/waiting_rooms/${slug}`));
  await env.DB.prepare("update list_totals set total = ? where list = 'waiting_rooms' and owner_id = ?")
    .bind(MAX_WAITING_ROOMS - 1, clinic.id)
    .run();
  await clinic.addRoom();
  const refused = clinic.client.post("/waiting_rooms", { waiting_room: { name: "One more" } });
  expectRefusal(await refused, 422, /has made 20000 waiting rooms/);
  expect((await clinic.addProvider()).waiting_room_slug).toMatch(/^[a-z]/);
});
