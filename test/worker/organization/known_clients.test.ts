import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../../src/units.ts";
import { countingRoundTrips } from "../support/database.ts";
import { observedDatabase, PRIMARY } from "../support/observed_database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { throughWorkerWith } from "../support/worker.ts";

const START = Date.parse("2026-01-31T09:30:00Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

/** The first request of a day records the client's last use, after the response. */
const NOTED_USE = 1;

const letPass = (seconds: number) => vi.setSystemTime(START + seconds * SECOND);

async function aKnownClient() {
  const organization = await anOrganization();
  const counting = countingRoundTrips();
  const client = organization.client.through(counting.fetcher);
  const askingCosts = () => counting.during(() => given(client.get("/waiting_rooms")));
  const firstCost = await askingCosts();
  /** Counts the round trips of a request with other credentials, which must be refused by default. */
  const costOf = (credentials: Record<string, string>, status = 401) =>
    counting.during(async () =>
      expect(await client.send("GET", "/waiting_rooms", undefined, credentials)).toMatchObject({ status }),
    );
  return { organization, client, askingCosts, costOf, firstCost };
}

const revoke = ({ client, platform }: Organization) => given(platform.delete(`/api_clients/${client.id}`));

describe("The look-up of an API client", () => {
  it("costs one round trip at first, none for 10 s, and is then repeated in the background, which makes it fresh", async () => {
    const { askingCosts, firstCost } = await aKnownClient();
    expect(firstCost).toBe(2 + NOTED_USE);
    for (const [seconds, trips] of [
      [9.999, 1],
      [10, 2],
      [10, 1],
      [19.999, 1],
    ] as const) {
      letPass(seconds);
      expect([seconds, await askingCosts()]).toEqual([seconds, trips]);
    }
  });

  it("lets a revoked client in until it is repeated", async () => {
    const { organization, client } = await aKnownClient();
    await revoke(organization);
    letPass(9.999);
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 200 });
    letPass(59.999);
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 200 });
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 401 });
  });

  it("costs no round trip for a wrong secret, and lets a new client in at once", async () => {
    const { organization, costOf } = await aKnownClient();
    const { credentials } = organization.client;
    for (let n = 0; n < 2; n++)
      expect(await costOf({ ...credentials, "X-Client-Secret": `made-up ${n}` })).toBe(0);
    const another = await organization.addClient(organization.admin.id);
    expect(await costOf(another.credentials, 200)).toBe(2 + NOTED_USE);
  });

  it("is not undone by a slower, earlier look-up: a refused client stays refused", async () => {
    const { organization, client } = await aKnownClient();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = throughWorkerWith({
      DB: observedDatabase({
        async query(run, start) {
          const found = await run();
          if (start === PRIMARY) await released;
          return found;
        },
      }),
    });
    letPass(15);
    const slowRequest = organization.client.through(slow).get("/waiting_rooms");
    // Once another request has come through, the slow look-up has read the client.
    await given(organization.client.get("/waiting_rooms"));
    await given(organization.client.get("/waiting_rooms"));
    await revoke(organization);
    letPass(21);
    await client.get("/waiting_rooms");
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 401 });
    release();
    expect(await slowRequest).toMatchObject({ status: 200 });
    for (const seconds of [21, 26, 40]) {
      letPass(seconds);
      expect(await client.get("/waiting_rooms")).toMatchObject({ status: 401 });
    }
  });
});

describe("Unknown credentials", () => {
  const someone = () => ({ "X-Client-ID": unique("made-up"), "X-Client-Secret": "made-up" });

  it("cost one round trip, and none when tried again within five seconds, even with another secret", async () => {
    const { costOf } = await aKnownClient();
    const unknown = someone();
    expect(await costOf(unknown)).toBe(1);
    expect(await costOf(unknown)).toBe(0);
    letPass(4.999);
    expect(await costOf({ ...unknown, "X-Client-Secret": "another" })).toBe(0);
    letPass(5);
    expect(await costOf(unknown)).toBe(1);
    expect(await costOf(unknown)).toBe(0);
  });

  it("cost the same if the client was revoked, and nothing if the client ID is longer than any", async () => {
    const { organization, costOf, askingCosts } = await aKnownClient();
    const { id, credentials } = await organization.addClient(organization.admin.id);
    await given(organization.platform.delete(`/api_clients/${id}`));
    expect(await costOf(credentials)).toBe(1);
    expect(await costOf(credentials)).toBe(0);
    expect(await costOf({ ...someone(), "X-Client-ID": "x".repeat(64) })).toBe(1);
    expect(await costOf({ ...someone(), "X-Client-ID": "x".repeat(65) })).toBe(0);
    // However many there are, the service does not forget a known client.
    for (let n = 0; n < 100; n++) await costOf(someone());
    expect(await askingCosts()).toBe(1);
  });
});
