import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LOOK_UPS_BEYOND_LIMIT } from "../../../src/limits.ts";
import { type Answer, api, type Fetcher, platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { countingRoundTrips } from "../support/database.ts";
import { aLiveKitServer, anEvent } from "../support/livekit.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { throughWorkerWith } from "../support/worker.ts";

/** A rate limit like the platform's, whose window the test ends. */
function aLimit(limit: number) {
  const counts = new Map<string, number>();
  return {
    async limit({ key }: { key: string }) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limit };
    },
    endWindow: () => counts.clear(),
  };
}

let addresses = 0;

/** An IP address that no other test uses. */
const anAddress = () => `192.0.2.${++addresses}`;

const from =
  (address: string | undefined, fetcher: Fetcher): Fetcher =>
  (request) => {
    const sent = new Request(request);
    if (address) sent.headers.set("CF-Connecting-IP", address);
    else sent.headers.delete("CF-Connecting-IP");
    return fetcher(sent);
  };

const PATH = "/waiting_rooms";

const A_BOOKMARK = "00000000-00000000-00000000-00000000000000000000000000000000";

const madeUp = () => ({ "X-Client-ID": unique("made-up"), "X-Client-Secret": "made-up" });

/** The policies in every response to an API client. */
const POLICY = '"client";q=1200;w=60, "organization";q=6000;w=60';

/** Expects a refusal by a limit of `quota` requests a minute. */
function expectBeyond({ status, headers, body }: Answer, name: string, quota: number, reason: string) {
  const error = `${reason}: at most ${quota.toLocaleString("en-US")} a minute are served; try again in 60 seconds`;
  expect({ status, body }).toEqual({ status: 429, body: { error } });
  const said = ["Retry-After", "RateLimit", "RateLimit-Policy"].map((header) => headers.get(header));
  expect(said).toEqual(["60", `"${name}";r=0;t=60`, `"${name}";q=${quota};w=60`]);
}

it.each([
  ["client", "CLIENT_LIMIT", 1200, "This API client has sent too many requests"],
  ["organization", "ORGANIZATION_LIMIT", 6000, "The organization's API clients have sent too many requests"],
] as const)(
  "The rate limit of a %s refuses requests beyond it until the minute is over, before they reach the database, but not those of others",
  async (name, binding, quota, reason) => {
    const organization = await anOrganization();
    const limit = aLimit(3);
    const { fetcher, during } = countingRoundTrips({ [binding]: limit });
    const client = organization.client.through(fetcher);
    const colleague = (await organization.addClient(organization.admin.id)).through(fetcher);
    const stranger = (await anOrganization()).client.through(fetcher);
    const limited = name === "client" ? [client] : [client, colleague];
    for (const each of [client, ...limited, client].slice(0, 3)) await given(each.get(PATH));
    const trips = await during(async () => {
      for (const each of [...limited, client])
        expectBeyond(await each.post(PATH, { waiting_room: { name: "Oncology" } }), name, quota, reason);
    });
    expect(trips).toBe(0);
    await given((name === "client" ? colleague : stranger).get(PATH));
    limit.endWindow();
    expect((await given(client.get(PATH))).pagination.total_count).toBe(0);
  },
);

describe("The rate limit of an API client", () => {
  async function aLimitedClient(limit: RateLimit) {
    const organization = await anOrganization();
    const client = organization.client.through(throughWorkerWith({ CLIENT_LIMIT: limit }));
    return { organization, client };
  }

  it("counts a request for each 128 KiB of a body, whatever the request is", async () => {
    const limit = aLimit(9);
    const { client } = await aLimitedClient(limit);
    const long = { organization_invites: [], padding: "x".repeat(1000 * 1024) };
    expect(await client.post("/invites/bulk_create", long)).toMatchObject({ status: 422 });
    await given(client.get(PATH));
    expect(await client.get(PATH)).toMatchObject({ status: 429 });
    limit.endWindow();
    await given(client.get(PATH));
    await given(client.get(PATH));
    expect(await client.post("/invites/bulk_create", long)).toMatchObject({ status: 429 });
  });

  it("counts a request for each 256 KiB of a transcript, which is returned even beyond the limit", async () => {
    const limit = aLimit(5);
    const { organization, client } = await aLimitedClient(limit);
    const call = await aCall(organization);
    const participant_key = call.participants[0].key;
    const line = { participant_key, text: "good morning, doctor" };
    // The response is longer than 256 KiB, and shorter than twice that.
    const lines = Array.from({ length: 2500 }, (_, n) => ({ ...line, start_time: n, end_time: n }));
    await given(call.reportTranscript({ is_final: true, lines }));
    const path = `${call.path}/transcript`;
    const { transcript_lines } = await given(client.get(path));
    for (let n = 0; n < 3; n++) await given(client.get(PATH));
    expect(await client.get(PATH)).toMatchObject({ status: 429 });
    limit.endWindow();
    for (let n = 0; n < 4; n++) await given(client.get(PATH));
    await given(client.get(path));
    limit.endWindow();
    const corrected = { lines: [{ id: transcript_lines[0].id, text: "Good evening" }], reason: "Misheard" };
    await given(client.put(path, { transcript: corrected }));
    await given(client.get(`${path}/versions`));
    await given(client.get(PATH));
    expect(await client.get(PATH)).toMatchObject({ status: 429 });
  });

  it("works with the platform's own counter", async () => {
    const { client } = await aLimitedClient(env.SMALL_LIMIT);
    const statuses = [];
    // A minute may end during the loop, which starts another window.
    for (let n = 0; n < 12; n++) statuses.push((await client.get(PATH)).status);
    expect(statuses.slice(0, 5)).toEqual(Array(5).fill(200));
    expect(statuses).toContain(429);
  });

  it("is stated in every response, as the operator has set it", async () => {
    const { client } = await anOrganization();
    const responses = [
      await client.get(PATH),
      await client.get(`${PATH}/nowhere`),
      await client.get("/nowhere"),
      await client.post(PATH, { waiting_room: {} }),
      await client.send("GET", "/events", undefined, { "X-D1-Bookmark": A_BOOKMARK }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 404, 422, 200]);
    for (const { headers } of responses) expect(headers.get("RateLimit-Policy")).toBe(POLICY);
    const set = {
      CLIENT_LIMIT_PER_MINUTE: "50",
      ORGANIZATION_LIMIT_PER_MINUTE: "70",
      BULK_INVITE_LIMIT_PER_MINUTE: "3",
    };
    const { headers } = await client.through(throughWorkerWith(set)).post("/invites/bulk_create", {});
    expect(headers.get("RateLimit-Policy")).toBe(
      '"client";q=50;w=60, "organization";q=70;w=60, "bulk_invites";q=3;w=60',
    );
  });
});

it("The rate limit of an organization does not count requests that are beyond a client's own limit", async () => {
  const organization = await anOrganization();
  const fetcher = throughWorkerWith({ CLIENT_LIMIT: aLimit(1), ORGANIZATION_LIMIT: aLimit(2) });
  const client = organization.client.through(fetcher);
  await given(client.get(PATH));
  for (let n = 0; n < 5; n++)
    expect((await client.get(PATH)).headers.get("RateLimit")).toBe('"client";r=0;t=60');
  await given((await organization.addClient(organization.admin.id)).through(fetcher).get(PATH));
});

describe("The rate limit of expensive requests", () => {
  const COSTLY = [
    ["bulk_invites", "BULK_INVITE_LIMIT", "/invites/bulk_create", "sent too many bulk invites"],
    [
      "redeliveries",
      "REDELIVERY_LIMIT",
      "/webhook_endpoints/1/redeliver",
      "asked for too many redeliveries and pings",
    ],
  ] as const;

  it.each(COSTLY)("is separate for %s", async (name, binding, path, reason) => {
    const organization = await anOrganization();
    const limit = aLimit(2);
    const counting = countingRoundTrips({ [binding]: limit });
    const client = organization.client.through(counting.fetcher);
    // Refused requests count as well: this one has no valid body.
    for (let n = 0; n < 2; n++) {
      const { status, headers } = await client.post(path, {});
      expect(status).toBe(422);
      expect(headers.get("RateLimit-Policy")).toBe(`${POLICY}, "${name}";q=10;w=60`);
    }
    const trips = await counting.during(async () => {
      expectBeyond(await client.post(path, {}), name, 10, `The organization's API clients have ${reason}`);
    });
    expect(trips).toBe(0);
    // The limit covers all clients of the organization, but no other requests and no other organizations.
    await given(client.get(PATH));
    for (const [, , other] of COSTLY)
      expect((await client.post(other, {})).status).toBe(other === path ? 429 : 422);
    const colleague = await organization.addClient(organization.admin.id);
    expect((await colleague.through(counting.fetcher).post(path, {})).status).toBe(429);
    const stranger = (await anOrganization()).client.through(counting.fetcher);
    expect((await stranger.post(path, {})).status).toBe(422);
    limit.endWindow();
    expect((await client.post(path, {})).status).toBe(422);
  });

  it("is checked after the client's limit, and before ids and the Idempotency-Key", async () => {
    const { client } = await anOrganization();
    const limited = client.through(
      throughWorkerWith({ BULK_INVITE_LIMIT: aLimit(0), REDELIVERY_LIMIT: aLimit(0) }),
    );
    for (const what of ["redeliver", "ping"])
      expect((await limited.post(`/webhook_endpoints/x/${what}`, {})).status).toBe(429);
    const key = { "Idempotency-Key": "é" };
    expect((await limited.send("POST", "/invites/bulk_create", {}, key)).status).toBe(429);
    const { headers } = await client
      .through(throughWorkerWith({ BULK_INVITE_LIMIT: aLimit(0), CLIENT_LIMIT: aLimit(0) }))
      .post("/invites/bulk_create", {});
    expect(headers.get("RateLimit")).toBe('"client";r=0;t=60');
  });
});

describe("The rate limit of failed credentials", () => {
  const LIMIT = 4;

  async function anAttackedService() {
    const organization = await anOrganization();
    const limit = aLimit(LIMIT);
    const counting = countingRoundTrips({ FAILURE_LIMIT: limit, FAILURE_LIMIT_PER_MINUTE: String(LIMIT) });
    const fetcher = from(anAddress(), counting.fetcher);
    const client = organization.client.through(fetcher);
    /** Sends failing requests, and returns their statuses. */
    const failing = async (times: number) => {
      const statuses = [];
      for (let n = 0; n < times; n++)
        statuses.push((await api("/api/external", madeUp(), fetcher).get(PATH)).status);
      return statuses;
    };
    return { organization, limit, counting, fetcher, failing, client };
  }

  it.each<[string, (fetcher: Fetcher) => Promise<Answer>]>([
    ["the external API, no credentials", (fetcher) => api("/api/external", {}, fetcher).get(PATH)],
    ["the external API, made-up secret", (fetcher) => api("/api/external", madeUp(), fetcher).get(PATH)],
    ["the platform API", (fetcher) => api("/api/platform", {}, fetcher).get("/organizations")],
    [
      "LiveKit's API",
      (fetcher) => aLiveKitServer({ fetcher }).send(anEvent("room_started"), { Authorization: "made-up" }),
    ],
    [
      "LiveKit's API, with the signature of another body",
      (fetcher) => {
        const forging: Fetcher = (request) => fetcher(new Request(request, { body: "{}" }));
        return aLiveKitServer({ fetcher: forging }).send(anEvent("room_started"));
      },
    ],
  ])("returns 429 beyond it: %s", async (_, fail) => {
    const fetcher = from(anAddress(), throughWorkerWith({ FAILURE_LIMIT: aLimit(2) }));
    for (let n = 0; n < 2; n++) expect((await fail(fetcher)).status).toBe(401);
    const reason = "Too many requests with missing or wrong credentials have come from this address";
    expectBeyond(await fail(fetcher), "address", 60, reason);
  });

  it("covers all APIs together, for each address or IPv6 network, and all requests without CF-Connecting-IP", async () => {
    const binding = throughWorkerWith({ FAILURE_LIMIT: aLimit(1) });
    const address = anAddress();
    const platformFrom = (fetcher: Fetcher, headers: Record<string, string> = {}) =>
      api("/api/platform", headers, fetcher).get("/organizations");
    const statuses = [
      await platformFrom(from(address, binding)),
      await api("/api/external", {}, from(address, binding)).get(PATH),
      await api("/api/external", {}, from(anAddress(), binding)).get(PATH),
      await platformFrom(from("2001:db8:1:2::1", binding)),
      await platformFrom(from("2001:db8:1:2:ffff:ffff:ffff:ffff", binding)),
      await platformFrom(from(undefined, binding), { "X-Forwarded-For": "198.51.100.3" }),
      await platformFrom(from(undefined, binding), { "X-Real-IP": "198.51.100.4" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 429, 401, 401, 429, 401, 429]);
  });

  it("ends after a minute, and neither counts nor affects valid clients, tokens and signatures, known or not", async () => {
    const { organization, limit, fetcher, failing, client } = await anAttackedService();
    for (let n = 0; n < 3 * LIMIT; n++) await given(client.get(PATH));
    expect(await failing(LIMIT + 1)).toEqual([...Array(LIMIT).fill(401), 429]);
    await given(client.get(PATH));
    const colleague = await organization.addClient(organization.admin.id);
    await given(colleague.through(fetcher).get(PATH));
    await given(platform.through(fetcher).get("/organizations"));
    await given(aLiveKitServer({ fetcher }).send(anEvent("room_started")));
    limit.endWindow();
    expect(await failing(1)).toEqual([401]);
  });

  it("lets 600 more made-up ids reach the database, and then none", async () => {
    const { organization, counting, failing, client } = await anAttackedService();
    await given(client.get(PATH));
    travelTo(fromNow(0));
    expect(await counting.during(() => failing(LIMIT + 1))).toBe(LIMIT + 1);
    expect(await counting.during(() => failing(LOOK_UPS_BEYOND_LIMIT + LIMIT))).toBe(LOOK_UPS_BEYOND_LIMIT);
    // A known client is still served; an unknown one has to wait.
    await given(client.get(PATH));
    const { credentials } = await organization.addClient(organization.admin.id);
    const unknown = () => client.send("GET", PATH, undefined, credentials);
    expect(await counting.during(async () => expect((await unknown()).status).toBe(429))).toBe(0);
    travelTo(fromNow(1));
    await given(unknown());
  });
});

it("GET /health and paths outside the APIs have no rate limit", async () => {
  const fetcher = throughWorkerWith({ FAILURE_LIMIT: aLimit(0), CLIENT_LIMIT: aLimit(0) });
  const statusOf = async (path: string) => (await fetcher(new Request(`https://service.test${path}`))).status;
  expect(await statusOf("/health")).toBe(200);
  expect(await statusOf("/nowhere")).toBe(404);
});
