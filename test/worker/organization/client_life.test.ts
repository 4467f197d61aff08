import { afterEach, describe, expect, it, vi } from "vitest";
import { DAY, SECOND } from "../../../src/units.ts";
import { api } from "../support/api.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { observedDatabase, PRIMARY } from "../support/observed_database.ts";
import { anOrganization, given } from "../support/organization.ts";
import { throughWorkerWith } from "../support/worker.ts";

const NOON = Date.parse("2026-11-24T12:00:00Z");

afterEach(() => {
  vi.useRealTimers();
});

const at = (time: number) => vi.useFakeTimers({ toFake: ["Date"], now: time });

/** A clinic, with functions that create an API client and read it from the list. */
async function aClinic() {
  const clinic = await anOrganization();
  const listed = async (id: number) => {
    const { api_clients } = await given(clinic.platform.get("/api_clients"));
    return api_clients.find((each: { id: number }) => each.id === id);
  };
  const create = (more: object) =>
    clinic.client.post("/api_clients", {
      api_client: { name: "Chart", organization_user_id: clinic.admin.id, ...more },
    });
  return { clinic, listed, create };
}

describe("An API client with expires_at", () => {
  it("is refused from that time on, even by an isolate that has cached it", async () => {
    at(NOON);
    const { clinic, listed } = await aClinic();
    const expires_at = new Date(NOON + 5 * SECOND).toISOString();
    const client = await clinic.addClient(clinic.admin.id, { expires_at });
    const unused = await clinic.addClient(clinic.admin.id, { expires_at });
    expect(await given(client.get("/api_client"))).toMatchObject({ expires_at });
    at(NOON + 5 * SECOND - 1);
    await given(client.get("/waiting_rooms"));
    at(NOON + 5 * SECOND);
    for (const expired of [client, unused])
      expectRefusal(await expired.get("/waiting_rooms"), 401, "Invalid client credentials");
    at(NOON + DAY);
    expectRefusal(await client.get("/waiting_rooms"), 401, "Invalid client credentials");
    expect(await listed(client.id)).toMatchObject({ expires_at, revoked_at: null });
  });

  it("cannot complete a request whose body arrives too late", async () => {
    at(NOON);
    const { clinic } = await aClinic();
    const expires_at = new Date(NOON + 5 * SECOND).toISOString();
    const client = await clinic.addClient(clinic.admin.id, { expires_at });
    await given(client.get("/waiting_rooms"));
    const late = client.through((request) => {
      const text = new TextEncoder().encode(JSON.stringify({ waiting_room: { name: "Cardiology" } }));
      const body = new ReadableStream({
        pull(controller) {
          at(NOON + 6 * SECOND);
          controller.enqueue(text);
          controller.close();
        },
      });
      return throughWorkerWith({})(
        new Request(request.url, { method: "POST", headers: request.headers, body }),
      );
    });
    expectRefusal(await late.post("/waiting_rooms", {}), 401, "Invalid client credentials");
    expect(await storedRows(clinic, "waiting_rooms")).toEqual([]);
  });
});

it("The secret of an API client begins with ovv_, is stored as its SHA-256, and lists show its last four characters", async () => {
  const { clinic, create, listed } = await aClinic();
  const { id, client_secret } = await given(create({}));
  expect(client_secret).toMatch(/^ovv_[\w-]{43}$/);
  expect((await listed(id)).secret_hint).toBe(client_secret.slice(-4));
  const sha256 = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(client_secret));
  const digest = [...new Uint8Array(sha256)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const stored = (await storedRows(clinic, "api_clients")).find((row) => row.id === id);
  expect(Object.values(stored ?? {})).toContain(digest);
  expect(JSON.stringify(stored)).not.toContain(client_secret);
});

describe("The last_used_at of an API client", () => {
  it("is its first request of a UTC day, ignoring requests with a wrong secret", async () => {
    at(NOON);
    const { clinic, listed } = await aClinic();
    const { id, credentials, ...client } = await clinic.addClient(clinic.admin.id, { scopes: ["sign_in"] });
    const lastUse = async () => (await listed(id)).last_used_at;
    const madeUp = api(
      "/api/external",
      { ...credentials, "X-Client-Secret": "made-up" },
      throughWorkerWith({}),
    );
    expectRefusal(await madeUp.get("/roles"), 401);
    expect(await lastUse()).toBeNull();
    // A request that is refused for its scope counts.
    const use = async () => expectRefusal(await client.through(throughWorkerWith({})).get("/roles"), 403);
    await use();
    expect(await lastUse()).toBe("2026-11-24T12:00:00.000Z");
    at(NOON + DAY / 2 - 1);
    await use();
    expect(await lastUse()).toBe("2026-11-24T12:00:00.000Z");
    at(NOON + DAY / 2);
    await use();
    expect(await lastUse()).toBe("2026-11-25T00:00:00.000Z");
    expect((await given(client.get("/api_client"))).last_used_at).toBe("2026-11-25T00:00:00.000Z");
  });

  it("is written once, after the response, and a failure to write it affects no request", async () => {
    const { clinic, listed } = await aClinic();
    const { id, ...client } = await clinic.addClient(clinic.admin.id);
    const [order, writes]: [string[], string[]] = [[], []];
    let fails = true;
    const DB = observedDatabase({
      query(run, start) {
        order.push(start);
        if (start === PRIMARY && fails && order.length > 1) return Promise.reject(new Error("D1 is down"));
        return run();
      },
      prepare(text) {
        if (/^update "api_clients"/i.test(text)) writes.push(text);
      },
    });
    const use = () => client.through(throughWorkerWith({ DB })).get("/waiting_rooms");
    await given(use());
    expect(order).toEqual([PRIMARY, "first-primary", PRIMARY]);
    expect((await listed(id)).last_used_at).toBeNull();
    fails = false;
    at(Date.now() + 11 * SECOND);
    // This request looks the client up again in the background, so that the next one writes the last use.
    await given(use());
    await given(use());
    await given(use());
    expect(writes).toHaveLength(2);
    expect((await listed(id)).last_used_at).not.toBeNull();
  });
});
