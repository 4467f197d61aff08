import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../src/database/enums.ts";
import { MAX_OLD_WEBHOOK_SECRETS, MAX_WEBHOOK_ENDPOINTS } from "../../../src/limits.ts";
import type { Api } from "../support/api.ts";
import { atOnce } from "../support/at_once.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const HOUR = 60;
const URL = "https://hooks.example.com/visits";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

const create = ({ client }: { client: Pick<Api, "post"> }, webhook_endpoint: object = {}) =>
  client.post("/webhook_endpoints", { webhook_endpoint: { url: URL, ...webhook_endpoint } });

const update = ({ client }: Organization, { id }: { id: number }, webhook_endpoint: object) =>
  client.put(`/webhook_endpoints/${id}`, { webhook_endpoint });

const rotate = ({ client }: Organization, { id }: { id: number }) =>
  client.post(`/webhook_endpoints/${id}/rotate_secret`, undefined);

async function secretsOf({ id }: { id: number }) {
  const row = await env.DB.prepare("select secret, previous_secrets from webhook_endpoints where id = ?")
    .bind(id)
    .first<{ secret: string; previous_secrets: string }>();
  return { current: row?.secret, previous: JSON.parse(row?.previous_secrets ?? "null") };
}

/** Sends the requests to localhost, as a developer does. */
const onThisMachine = (request: Request) =>
  exports.default.fetch(new Request(request.url.replace("//service.test", "//localhost:8787"), request));

describe("Webhook endpoints", () => {
  it("PUT /webhook_endpoints/{id} with all event types includes future types, even in another order", async () => {
    const clinic = await anOrganization();
    const { secret: _, ...endpoint } = await given(create(clinic));
    const narrow = await given(create(clinic, { event_types: ["call.ended"] }));
    await given(update(clinic, endpoint, endpoint));
    await given(update(clinic, narrow, { event_types: [...EVENT_TYPES].reverse() }));
    const { results } = await env.DB.prepare(
      "select event_types from webhook_endpoints where organization_id = ?",
    )
      .bind(clinic.id)
      .all();
    expect(results).toEqual([{ event_types: null }, { event_types: null }]);
  });

  it("POST /webhook_endpoints keeps the URL, in any script, and families of event types as they are given, each once", async () => {
    const clinic = await anOrganization();
    const event_types = ["call.ended", "invite.*", "call.*", "invite.*", "call.*"];
    const url = "https://münchen.example.com/a b";
    const endpoint = await given(create(clinic, { event_types, url }));
    expect(endpoint.url).toBe(url);
    expect(endpoint.event_types).toEqual(["call.ended", "call.*", "invite.*"]);
    const families = [...new Set(EVENT_TYPES.map((type) => type.replace(/\.\w+$/, ".*")))];
    expect((await given(update(clinic, endpoint, { event_types: families }))).event_types).toEqual(families);
    const stored = env.DB.prepare("select event_types from webhook_endpoints where id = ?").bind(endpoint.id);
    expect(JSON.parse((await stored.first<string>("event_types")) ?? "")).toEqual(families);
  });

  it("POST and PUT refuse an invalid endpoint", async () => {
    const clinic = await anOrganization();
    const endpoint = await given(create(clinic));
    const faults: [string, object][] = [
      ["webhook_endpoint.url: must use port 443", { url: "https://hooks.example.com:8443" }],
      ["webhook_endpoint.url: must not point to this service", { url: "https://service.test/api" }],
      ["webhook_endpoint.event_types: must name at least one", { event_types: [] }],
      ["webhook_endpoint.event_types.1", { event_types: ["call.ended", "call.exploded"] }],
      ["webhook_endpoint.event_types: must name at most", { event_types: Array(101).fill("call.ended") }],
    ];
    await changingNothing(async () => {
      expectRefusal(await create(clinic, { url: undefined }), 422, "webhook_endpoint.url: is required");
      for (const [error, fault] of faults)
        for (const { status, body } of [await create(clinic, fault), await update(clinic, endpoint, fault)])
          expect({ status, body }).toEqual({ status: 422, body: { error: expect.stringContaining(error) } });
    });
  });

  it("POST and PUT refuse every host name of the service that the operator has set", async () => {
    const clinic = await anOrganization();
    const OWN_HOSTS = "visits.example.org, visits.example.net:8443";
    const client = clinic.client.through(throughWorkerWith({ OWN_HOSTS }));
    const known = { ...clinic, client: { ...clinic.client, ...client } };
    const endpoint = await given(create(clinic, { url: "https://visits.example.org" }));
    for (const url of [
      "https://VISITS.example.org./api",
      "https://visits.example.net",
      "https://service.test",
    ])
      for (const { status, body } of [await create(known, { url }), await update(known, endpoint, { url })])
        expect({ status, body }).toEqual({
          status: 422,
          body: { error: "webhook_endpoint.url: must not point to this service" },
        });
    await given(create(known, { url: "https://hooks.example.org" }));
    // This endpoint was created before the operator set the names.
    expect(await given(known.client.post(`/webhook_endpoints/${endpoint.id}/ping`, undefined))).toEqual({
      response_status: null,
      error: "The URL is not allowed: it must not point to this service",
    });
  });

  it("POST and PUT accept a URL on the developer's own machine only if the service is called localhost", async () => {
    const clinic = await anOrganization();
    const local = { ...clinic, client: clinic.client.through(onThisMachine) };
    const url = "http://127.0.0.1:3000/hooks";
    const endpoint = await given(create(local, { url }));
    expect(endpoint.url).toBe(url);
    expect((await create(clinic, { url })).status).toBe(422);
    expect((await update(clinic, endpoint, { url })).status).toBe(422);
    const { status, body } = await create(local, { url: "http://127.0.0.1:8787/hooks" });
    expect({ status, body }).toEqual({
      status: 422,
      body: { error: "webhook_endpoint.url: must not point to this service" },
    });
  });
});

it("POST /webhook_endpoints accepts ten endpoints, even of thirty simultaneous requests", async () => {
  const clinic = await anOrganization();
  const answers = await atOnce(30, () => create(clinic));
  const others = answers.filter(({ status }) => status !== 201);
  expect(others).toHaveLength(30 - MAX_WEBHOOK_ENDPOINTS);
  for (const other of others)
    expectRefusal(
      other,
      422,
      "The organization has 10 webhook endpoints, which is the most that it can have: delete one first",
    );
  const { webhook_endpoints } = await given(clinic.client.get("/webhook_endpoints"));
  expect(webhook_endpoints).toHaveLength(MAX_WEBHOOK_ENDPOINTS);
});

describe("POST /webhook_endpoints/{id}/rotate_secret", () => {
  it("replaces the secret, and lets the old one sign too for 24 hours", async () => {
    const clinic = await anOrganization();
    const endpoint = await given(create(clinic, { event_types: ["call.ended"] }));
    travelTo(fromNow(5));
    const at = Date.now();
    const { secret, ...rotated } = await given(rotate(clinic, endpoint));
    expect(secret).toMatch(SECRET);
    expect(secret).not.toBe(endpoint.secret);
    const { secret: old, ...before } = endpoint;
    expect(rotated).toEqual({ ...before, updated_at: new Date(at).toISOString() });
    expect(await secretsOf(endpoint)).toEqual({
      current: secret,
      previous: [{ secret: old, expires_at: at + 24 * HOUR * 60_000 }],
    });
  });

  it("lets each old secret sign for 24 hours, and is refused while the maximum of them do", async () => {
    const clinic = await anOrganization();
    const secrets = [await given(create(clinic))];
    const [endpoint] = secrets;
    const previous = async () =>
      (await secretsOf(endpoint)).previous.map(({ secret }: { secret: string }) => secret);
    secrets.push(await given(rotate(clinic, endpoint)));
    travelTo(fromNow(12 * HOUR));
    while (secrets.length <= MAX_OLD_WEBHOOK_SECRETS) secrets.push(await given(rotate(clinic, endpoint)));
    const signing = secrets.map(({ secret }) => secret);
    expect(await previous()).toEqual(signing.slice(0, -1));
    const { status, body } = await changingNothing(() => rotate(clinic, endpoint));
    expect(status).toBe(422);
    expect(body.error).toMatch(/^The secret was rotated 5 times within a day: wait/);
    travelTo(fromNow(11 * HOUR + 1));
    const last = await given(rotate(clinic, endpoint));
    expect(await previous()).toEqual(signing.slice(1));
    expect((await secretsOf(endpoint)).current).toBe(last.secret);
  });

  it("carries out thirty simultaneous requests one after the other, up to the maximum of old secrets", async () => {
    const clinic = await anOrganization();
    const endpoint = await given(create(clinic));
    const answers = await atOnce(30, () => rotate(clinic, endpoint));
    const rotations = answers.filter(({ status }) => status === 200).map(({ body }) => body);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(30 - MAX_OLD_WEBHOOK_SECRETS);
    const { current, previous } = await secretsOf(endpoint);
    const signing = [...previous.map(({ secret }: { secret: string }) => secret), current];
    expect(new Set(signing)).toEqual(new Set([endpoint, ...rotations].map(({ secret }) => secret)));
  });
});
