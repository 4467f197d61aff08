import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  CLIENT_FRACTION,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_RESERVED,
  MAX_DAILY_SIGN_INS,
  MAX_DAILY_WRITES,
  MAX_WAITING_ROOMS,
  WRITE_SIZE,
} from "../../../src/limits.ts";
import { type Answer, type Api, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anIdentityProvider } from "../support/identity_provider.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

/** The usage of an organization, without the limits. */
async function usageOf({ id }: Organization, query = "") {
  const { usage } = await given(platform.get(`/organizations/${id}/usage${query}`));
  return usage.map(({ writes_limit, access_log_entries_limit, ...used }: Record<string, unknown>) => used);
}

type Asking = Pick<Api, "get" | "post">;

type Column = "writes" | "access_log_entries" | "sign_ins" | "reserved";

/** Sets a counter of the day, of all clients together or of one. */
const storedSoFar = (clinic: Organization, column: Column, value: number, api_client_id = 0) =>
  env.DB.prepare(
    `insert into organization_days (organization_id, date, api_client_id, ${column}) values (?1, '2026-11-24', ?2, ?3)
     on conflict do update set ${column} = ?3`,
  )
    .bind(clinic.id, api_client_id, value)
    .run();

/** An organization with a call, and a counter of the day at this value. */
async function aBusyDay(column: Column, value: number) {
  travelTo("2026-11-24T21:59:30Z");
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  await storedSoFar(clinic, column, value);
  return { clinic, call };
}

const aRoom = { waiting_room: { name: "Cardiology" } };

describe("The daily quota of an organization", () => {
  it("counts its clients' writes, its access log entries, and its calls", async () => {
    travelTo("2026-11-24T23:59:00Z");
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const [before] = await usageOf(clinic);
    const room = await clinic.addRoom();
    await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { is_active: false } }));
    await given(clinic.client.get(`${call.path}/participants`));
    await given(clinic.client.get("/waiting_rooms"));
    expectRefusal(await clinic.client.delete("/waiting_rooms/nowhere"), 404);
    const { writes, access_log_entries } = before;
    expect(before).toEqual({ date: "2026-11-24", writes, access_log_entries, visits: 1 });
    const day = { ...before, writes: writes + 2, access_log_entries: access_log_entries + 1 };
    expect(await usageOf(clinic)).toEqual([day]);
    travelTo("2026-11-25T00:00:01Z");
    await clinic.addRoom();
    const next = { date: "2026-11-25", writes: 1, access_log_entries: 0, visits: 0 };
    expect(await usageOf(clinic)).toEqual([day, next]);
    expect(await usageOf(clinic, "?to=2026-11-24")).toEqual([day]);
    expect(await usageOf(clinic, "?from=2026-11-25")).toEqual([next]);
    expect(await usageOf(clinic, "?from=2026-11-26")).toEqual([]);
  });

  it("refuses more than 20,000 client writes, even at once, with 429 until midnight, and changes nothing", async () => {
    const { clinic } = await aBusyDay("writes", MAX_DAILY_WRITES - 10);
    const make = () => clinic.client.post("/waiting_rooms", aRoom);
    expect(statusesOf(await atOnce(30, make))).toEqual({ 201: 10, 429: 20 });
    await changingNothing(async () => {
      travelTo("2026-11-24T22:00:00Z");
      const refused = await make();
      expectRefusal(refused, 429, /^The organization.s clients have written 20,000 times today/);
      expect(refused.headers.get("Retry-After")).toBe("7200");
    });
    travelTo("2026-11-24T22:00:00Z");
    await given(clinic.client.get("/waiting_rooms"));
    await clinic.addProvider();
    await (await anOrganization()).addRoom();
    travelTo("2026-11-25T00:00:00Z");
    await given(make());
  });

  it("refuses recorded reads beyond 200,000 entries, and no other requests", async () => {
    const { clinic, call } = await aBusyDay("access_log_entries", MAX_DAILY_ACCESS_LOGS - 1);
    const read = () => clinic.client.get(`${call.path}/participants`);
    // Changes by the platform do not count.
    await given(call.hold());
    await given(call.release());
    expect((await read()).status).toBe(200);
    expectRefusal(await read(), 429, /have caused 200,000 access log entries today/);
    await given(call.hold());
    expect((await clinic.client.get(call.path)).status).toBe(200);
  });
});

describe("A write counts once per 4 KB of its body, rounded up:", () => {
  it.each([
    [0, 1],
    [WRITE_SIZE, 1],
    [WRITE_SIZE + 1, 2],
    [50_000, 13],
  ])("%d bytes as %d", async (size, writes) => {
    const clinic = await anOrganization();
    await given(clinic.client.post("/waiting_rooms", JSON.stringify(aRoom).padEnd(size)));
    expect(await usageOf(clinic)).toMatchObject([{ writes }]);
  });

  it("also a correction, by the text that it replaces if that is longer", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    await call.reportSoapNote({ is_final: true, text: "🩺".repeat(2 * 1024) });
    const [before] = await usageOf(clinic);
    const soap_note = { text: "Well.", reason: "Typo" };
    await given(clinic.client.put(`${call.path}/soap_note`, { soap_note }));
    expect(await usageOf(clinic)).toMatchObject([{ writes: before.writes + 2 }]);
  });

  it("also a bulk invite, which does not count if it is refused", async () => {
    const clinic = await anOrganization();
    const body = JSON.stringify({ organization_invites: Array.from({ length: 100 }, () => anInvite()) });
    await given(clinic.client.post("/invites/bulk_create", body));
    expectRefusal(await clinic.client.post("/invites/bulk_create", body.replace("@", "")), 422);
    expect(await usageOf(clinic)).toMatchObject([{ writes: Math.ceil(body.length / WRITE_SIZE) }]);
  });

  it("and is refused if the quota has room for only a part of it", async () => {
    const { clinic } = await aBusyDay("writes", MAX_DAILY_WRITES - 2);
    const post = (size: number) => clinic.client.post("/waiting_rooms", JSON.stringify(aRoom).padEnd(size));
    expectRefusal(await post(3 * WRITE_SIZE), 429);
    await given(post(2 * WRITE_SIZE));
  });
});

describe("The daily quota of a client (half of its organization's)", () => {
  it.each<["writes" | "access_log_entries", RegExp]>([
    ["writes", /^This API client has written 10,000 times today, .* \(50 percent /],
    ["access_log_entries", /^This API client has caused 100,000 access log entries .* \(50 percent /],
  ])("refuses its %s with 429, but not those of other clients", async (column, error) => {
    const { clinic, call } = await aBusyDay(column, 0);
    const most = column === "writes" ? MAX_DAILY_WRITES : MAX_DAILY_ACCESS_LOGS;
    await storedSoFar(clinic, column, most * CLIENT_FRACTION - 1, clinic.client.id);
    const write = (client: Asking = clinic.client) => client.post("/waiting_rooms", aRoom);
    const read = (client: Asking = clinic.client) => client.get(`${call.path}/participants`);
    const [ask, other] = column === "writes" ? [write, read] : [read, write];
    await given(ask());
    const refused = await changingNothing(async () => {
      travelTo("2026-11-24T22:30:00Z");
      return ask();
    });
    expectRefusal(refused, 429, error);
    travelTo("2026-11-24T22:30:00Z");
    await given(other());
    await given(ask(await clinic.addClient(clinic.admin.id)));
    travelTo("2026-11-25T00:00:00Z");
    await given(ask());
  });

  it("is counted in rows that the cron deletes after a day, unlike those of the organization", async () => {
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

it("With all quotas used up, a client can still place a legal hold, take rights away, delete and erase, and read the access log, none of which counts as a write", async () => {
  const { clinic, call } = await aBusyDay("writes", 0);
  const { client } = clinic;
  const provider = await clinic.addProvider();
  const leaver = await clinic.addClient(provider.id);
  const invite = await clinic.addInvite();
  const { id: egress } = await call.addEgress();
  for (const [id, share] of [
    [0, 1],
    [client.id, CLIENT_FRACTION],
  ] as const) {
    await storedSoFar(clinic, "writes", MAX_DAILY_WRITES * share, id);
    await storedSoFar(clinic, "access_log_entries", MAX_DAILY_ACCESS_LOGS * share, id);
  }
  expectRefusal(await client.post("/waiting_rooms", aRoom), 429);
  expectRefusal(await client.get(`${call.path}/participants`), 429);
  const [before] = await usageOf(clinic);
  const member = `/organization_users/${provider.id}`;
  await given(client.delete(`${call.path}/egresses/${egress}`));
  await given(client.put(`${call.path}/legal_hold`, { legal_hold: {} }));
  await given(client.put(member, { organization_user: { roles: ["provider_assistant"] } }));
  await given(client.delete(`/api_clients/${leaver.id}`));
  await given(client.delete(member));
  await given(client.delete(`/invites/${invite.id}`));
  await given(client.delete("/participants?external_reference=patient-1"));
  await given(client.get("/access_logs"));
  expect(await usageOf(clinic)).toMatchObject([{ writes: before.writes }]);
});

describe("The reserves of a day", () => {
  const hold = (path: string) => [`${path}/legal_hold`, { legal_hold: {} }] as const;

  it("refuse the 200,001st sign-in, and nothing else", async () => {
    const { clinic, call } = await aBusyDay("sign_ins", MAX_DAILY_SIGN_INS - 1);
    const provider = await anIdentityProvider();
    await provider.register(clinic);
    const signIn = async () => {
      const token = await provider.token({ email: clinic.admin.email });
      return clinic.client.post("/auth/token_exchange", { token_exchange: { token } });
    };
    await given(signIn());
    const refused = await changingNothing(async () => {
      travelTo("2026-11-24T22:00:00Z");
      return signIn();
    });
    expectRefusal(refused, 429, /have signed in 200,000 times today/);
    expect(refused.headers.get("Retry-After")).toBe("7200");
    travelTo("2026-11-24T22:00:00Z");
    await given(clinic.client.put(...hold(call.path)));
    travelTo("2026-11-25T00:00:00Z");
    await given(signIn());
  });

  it.each<[string, (of: { clinic: Organization; path: string }) => Promise<Answer>]>([
    ["a legal hold", ({ clinic, path }) => clinic.client.put(...hold(path))],
    ["a read of the access log", ({ clinic }) => clinic.client.get("/access_logs")],
    [
      "a removed member",
      async ({ clinic }) => clinic.client.delete(`/organization_users/${(await clinic.addProvider()).id}`),
    ],
  ])(
    "refuse the 20,001st request of the others: %s, but not what an administrator writes else",
    async (_, ask) => {
      const { clinic, call } = await aBusyDay("reserved", MAX_DAILY_RESERVED - 1);
      const second = await aCall(clinic);
      await given(ask({ clinic, path: call.path }));
      const refused = await ask({ clinic, path: second.path });
      expectRefusal(refused, 429, /have caused 20,000 access log entries today with legal holds/);
      await given(clinic.client.post("/waiting_rooms", aRoom));
      await given(clinic.client.get(`${call.path}/participants`));
      travelTo("2026-11-25T00:00:00Z");
      await given(clinic.client.put(...hold(second.path)));
    },
  );

  it("serve a member's lost rights, while a new name, email or role is an ordinary write", async () => {
    const { clinic } = await aBusyDay("writes", 0);
    const member = await clinic.addUser("Paul Provider", ["provider", "provider_assistant"]);
    const put = (organization_user: object) =>
      clinic.client.put(`/organization_users/${member.id}`, { organization_user });
    const writesOf = async (change: object) => {
      const [before] = await usageOf(clinic);
      await given(put(change));
      const [after] = await usageOf(clinic);
      return [after.writes - before.writes, after.access_log_entries - before.access_log_entries];
    };
    expect(await writesOf({ display_name: "Paul Other" })).toEqual([1, 1]);
    expect(await writesOf({ email: "paul@other.example" })).toEqual([1, 1]);
    expect(await writesOf({ roles: ["provider"] })).toEqual([0, 0]);
    expect(await writesOf({ roles: ["provider", "organization_admin"] })).toEqual([1, 1]);
    expect(await writesOf({ roles: ["provider_assistant"] })).toEqual([0, 0]);
    await storedSoFar(clinic, "writes", MAX_DAILY_WRITES);
    expectRefusal(await put({ display_name: "Paul Again" }), 429, /written 20,000 times/);
    expectRefusal(await put({ roles: ["provider"] }), 429, /written 20,000 times/);
  });
});

it("GET /usage shows usage and limits to a client of any role, as the platform sees them", async () => {
  travelTo("2026-11-24T12:00:00Z");
  const clinic = await anOrganization();
  const { slug } = await clinic.addRoom();
  await clinic.addRoom();
  await given(clinic.client.delete(`/waiting_rooms/${slug}`));
  const { client, id } = clinic;
  const assistant = await clinic.addClient((await clinic.addUser("Al Assistant", ["provider_assistant"])).id);
  expect(await given(assistant.get("/usage"))).toEqual({
    usage: [
      {
        date: "2026-11-24",
        writes: 2,
        writes_limit: MAX_DAILY_WRITES,
        access_log_entries: 0,
        access_log_entries_limit: MAX_DAILY_ACCESS_LOGS,
        visits: 0,
      },
    ],
    waiting_rooms_count: 2,
    waiting_rooms_limit: MAX_WAITING_ROOMS,
  });
  for (const query of ["", "?from=2026-11-25", "?from=2026-11-01&to=2026-11-24"])
    expect(await given(client.get(`/usage${query}`))).toEqual(
      await given(platform.get(`/organizations/${id}/usage${query}`)),
    );
  const tooLong = await client.get("/usage?from=2000-01-01&to=2026-01-31");
  expectRefusal(tooLong, 400, /^from: the range .* at most 3,660 days/);
});

it("POST /waiting_rooms is refused after 20,000 rooms, including retired ones", async () => {
  const clinic = await anOrganization();
  const { slug } = await clinic.addRoom();
  await given(clinic.client.delete(`/waiting_rooms/${slug}`));
  await env.DB.prepare("update list_totals set total = ? where list = 'waiting_rooms' and owner_id = ?")
    .bind(MAX_WAITING_ROOMS - 1, clinic.id)
    .run();
  await clinic.addRoom();
  const refused = clinic.client.post("/waiting_rooms", { waiting_room: { name: "One more" } });
  expectRefusal(await refused, 422, /has created 20,000 waiting rooms/);
  expect((await clinic.addProvider()).waiting_room_slug).toMatch(/^[a-z]/);
});
