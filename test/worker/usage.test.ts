import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  CLIENT_SHARE,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_WRITES,
  MAX_WAITING_ROOMS,
  WRITE_SIZE,
} from "../../src/limits.ts";
import { type Answer, platform } from "./support/api.ts";
import { aCall } from "./support/calls.ts";
import { storedRows } from "./support/database.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anIdentityProvider } from "./support/identity_provider.ts";
import { anInvite, anOrganization, given, type Organization } from "./support/organization.ts";
import { workerWith } from "./support/queue.ts";
import { travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

const usageOf = async ({ id }: Organization, query = "") =>
  (await given(platform.get(`/organizations/${id}/usage${query}`))).usage;

type Column = "writes" | "access_log_entries";

/** Says that so much was stored, by all clients together or by one. */
const storedSoFar = (clinic: Organization, column: Column, value: number, api_client_id = 0) =>
  env.DB.prepare(
    `insert into organization_days (organization_id, date, api_client_id, ${column}) values (?1, '2026-11-24', ?2, ?3)
     on conflict do update set ${column} = ?3`,
  )
    .bind(clinic.id, api_client_id, value)
    .run();

/** An organization that has stored almost all that it can store on this day. */
async function aBusyDay(column: Column, value: number) {
  travelTo("2026-11-24T21:59:30Z");
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  await storedSoFar(clinic, column, value);
  return { clinic, call };
}

/** An organization of which one client has stored almost all of its share. */
async function aBusyClient(column: Column, left: number) {
  const day = await aBusyDay(column, 0);
  const most = { writes: MAX_DAILY_WRITES, access_log_entries: MAX_DAILY_ACCESS_LOGS }[column];
  await storedSoFar(day.clinic, column, most * CLIENT_SHARE - left, day.clinic.client.id);
  return { ...day, colleague: await day.clinic.addClient(day.clinic.admin.id) };
}

const aRoom = { waiting_room: { name: "Cardiology" } };

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

describe("A write counts once for each 4 KB of its body that it begins:", () => {
  it.each([
    [0, 1],
    [WRITE_SIZE, 1],
    [WRITE_SIZE + 1, 2],
    [50_000, 13],
  ])("%d bytes as %d", async (size, writes) => {
    const clinic = await anOrganization();
    const body = JSON.stringify({ waiting_room: { name: "Cardiology" } }).padEnd(size);
    await given(clinic.client.post("/waiting_rooms", body));
    expect(await usageOf(clinic)).toMatchObject([{ writes }]);
  });

  it("a bulk invite too, and one that is refused as none", async () => {
    const clinic = await anOrganization();
    const organization_invites = Array.from({ length: 100 }, () => anInvite());
    const body = JSON.stringify({ organization_invites });
    await given(clinic.client.post("/invites/bulk_create", body));
    const writes = Math.ceil(body.length / WRITE_SIZE);
    expect(writes).toBeGreaterThan(1);
    expect(await usageOf(clinic)).toMatchObject([{ writes }]);
    expectRefusal(await clinic.client.post("/invites/bulk_create", body.replace("@", "")), 422);
    expect(await usageOf(clinic)).toMatchObject([{ writes }]);
  });

  it("and none is carried out of which only a part has room", async () => {
    const { clinic } = await aBusyDay("writes", MAX_DAILY_WRITES - 2);
    const post = (size: number) => clinic.client.post("/waiting_rooms", JSON.stringify(aRoom).padEnd(size));
    expectRefusal(await post(3 * WRITE_SIZE), 429);
    await given(post(2 * WRITE_SIZE));
  });
});

describe("One client may use half of what its organization may store in a day:", () => {
  it("then its writes are 429 with its share in the text, and other clients write on", async () => {
    const { clinic, colleague } = await aBusyClient("writes", 1);
    await given(clinic.client.post("/waiting_rooms", aRoom));
    const refused = await changingNothing(async () => {
      travelTo("2026-11-24T22:30:00Z");
      return clinic.client.post("/waiting_rooms", aRoom);
    });
    expectRefusal(refused, 429, /^This API client has written 10000 times today, .* \(at most 50 percent /);
    travelTo("2026-11-24T22:30:00Z");
    await given(colleague.post("/waiting_rooms", aRoom));
    travelTo("2026-11-25T00:00:00Z");
    await given(clinic.client.post("/waiting_rooms", aRoom));
  });

  it("then its reads that need an entry are 429, and other clients read on", async () => {
    const { clinic, call, colleague } = await aBusyClient("access_log_entries", 1);
    await given(clinic.client.get(`${call.path}/participants`));
    const refused = clinic.client.get(`${call.path}/participants`);
    expectRefusal(await refused, 429, /^This API client has caused 100000 entries .* \(at most 50 percent /);
    await given(clinic.client.get("/waiting_rooms"));
    await given(clinic.client.post("/waiting_rooms", aRoom));
    await given(colleague.get(`${call.path}/participants`));
  });

  it("also where thirty of its writes come at once", async () => {
    const { clinic } = await aBusyClient("writes", 10);
    const made = await Promise.all(
      Array.from({ length: 30 }, () => clinic.client.post("/waiting_rooms", aRoom)),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(made.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it("and what a client stored before yesterday is forgotten, but not what its organization did", async () => {
    travelTo("2026-11-24T12:00:00Z");
    const clinic = await anOrganization();
    await clinic.addRoom();
    const clientsOf = async () =>
      (await storedRows(clinic, "organization_days")).map(({ api_client_id }) => api_client_id);
    expect(await clientsOf()).toEqual([0, clinic.client.id]);
    travelTo("2026-11-25T23:59:00Z");
    await workerWith({}).runCron();
    expect(await clientsOf()).toEqual([0, clinic.client.id]);
    travelTo("2026-11-26T00:01:00Z");
    await workerWith({}).runCron();
    expect(await clientsOf()).toEqual([0]);
  });
});

describe("Neither the organization's quota nor its client's refuses:", () => {
  async function aClinicBeyondAllQuotas() {
    const { clinic, call } = await aBusyDay("writes", 0);
    const provider = await clinic.addProvider();
    const leaver = await clinic.addClient(provider.id);
    const invite = await clinic.addInvite();
    const { id: egress } = await call.addEgress();
    for (const id of [0, clinic.client.id]) {
      const share = id === 0 ? 1 : CLIENT_SHARE;
      await storedSoFar(clinic, "writes", MAX_DAILY_WRITES * share, id);
      await storedSoFar(clinic, "access_log_entries", MAX_DAILY_ACCESS_LOGS * share, id);
    }
    expectRefusal(await clinic.client.post("/waiting_rooms", aRoom), 429);
    expectRefusal(await clinic.client.get(`${call.path}/participants`), 429);
    return { clinic, client: clinic.client, call, provider, leaver, invite, egress };
  }

  type Clinic = Awaited<ReturnType<typeof aClinicBeyondAllQuotas>>;

  it.each<[string, (of: Clinic) => Promise<Answer>]>([
    ["a legal hold", ({ client, call }) => client.put(`${call.path}/legal_hold`, { legal_hold: {} })],
    [
      "taking a role away",
      ({ client, provider }) =>
        client.put(`/organization_users/${provider.id}`, {
          organization_user: { roles: ["provider_assistant"] },
        }),
    ],
    [
      "removing a member",
      ({ client, provider }) => client.delete(`/organization_users/${provider.id}?revoke_api_clients=true`),
    ],
    ["revoking a client", ({ client, leaver }) => client.delete(`/api_clients/${leaver.id}`)],
    ["removing an invite", ({ client, invite }) => client.delete(`/invites/${invite.id}`)],
    ["deleting a recording", ({ client, call, egress }) => client.delete(`${call.path}/egresses/${egress}`)],
    ["reading the access log", ({ client }) => client.get("/access_logs")],
    [
      "signing in",
      async ({ clinic, client }) => {
        const provider = await anIdentityProvider();
        await provider.register(clinic);
        const token = await provider.token({ email: clinic.admin.email });
        return client.post("/auth/token_exchange", { token_exchange: { token } });
      },
    ],
  ])("%s, which counts as no write", async (_, ask) => {
    const world = await aClinicBeyondAllQuotas();
    const [before] = await usageOf(world.clinic);
    await given(ask(world));
    const [after] = await usageOf(world.clinic);
    expect(after.writes).toBe(before.writes);
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
