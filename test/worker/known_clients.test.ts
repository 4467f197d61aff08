import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { countingRoundTrips } from "./support/database.ts";
import { platform } from "./support/door.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";

const SECOND = 1000;
const START = Date.parse("2026-01-31T09:30:00Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

const letPass = (seconds: number) => vi.setSystemTime(START + seconds * SECOND);

async function aKnownClient() {
  const organization = await anOrganization();
  const counting = countingRoundTrips();
  const client = organization.client.through(counting.fetcher);
  const askingCosts = () => counting.during(() => given(client.get("/waiting_rooms")));
  const firstCost = await askingCosts();
  return { organization, client, askingCosts, firstCost };
}

const revoke = ({ client }: Organization) => given(platform.delete(`/api_clients/${client.id}`));

describe("The look-up of a client", () => {
  it("costs one round trip at first sight and none while it is fresh", async () => {
    const { askingCosts, firstCost } = await aKnownClient();
    expect(firstCost).toBe(2);
    letPass(9.999);
    expect(await askingCosts()).toBe(1);
  });

  it("is made again in the background after 10 s, and the client is then fresh again", async () => {
    const { askingCosts } = await aKnownClient();
    letPass(10);
    expect(await askingCosts()).toBe(2);
    expect(await askingCosts()).toBe(1);
    letPass(19.999);
    expect(await askingCosts()).toBe(1);
  });

  it("is made again before the response after 60 s", async () => {
    const { organization, client } = await aKnownClient();
    await revoke(organization);
    letPass(60);
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 401 });
  });

  it("still lets a revoked client in while it is fresh, but not after the next look-up", async () => {
    const { organization, client } = await aKnownClient();
    await revoke(organization);
    letPass(9.999);
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 200 });
    letPass(59.999);
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 200 });
    expect(await client.get("/waiting_rooms")).toMatchObject({ status: 401 });
  });

  it("is not trusted for another secret", async () => {
    const { client, organization } = await aKnownClient();
    const headers = { ...organization.client.credentials, "X-Client-Secret": "made-up" };
    expect(await client.send("GET", "/waiting_rooms", undefined, headers)).toMatchObject({ status: 401 });
  });

  it("is not remembered for an unknown client, which may be created the next moment: replica and primary are asked", async () => {
    const { organization } = await aKnownClient();
    const { id, credentials: unknown } = await organization.addClient(organization.admin.id);
    await given(platform.delete(`/api_clients/${id}`));
    const counting = countingRoundTrips();
    const asking = organization.client.through(counting.fetcher);
    for (let n = 0; n < 2; n++)
      expect(await counting.during(() => asking.send("GET", "/waiting_rooms", undefined, unknown))).toBe(2);
  });
});
