import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../src/database/enums.ts";
import { MAX_OLD_WEBHOOK_SECRETS, MAX_WEBHOOK_ENDPOINTS } from "../../../src/limits.ts";
import type { Api } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const HOUR = 60;
const URL = "https://hooks.example.com/visits";
const OWN = "webhook_endpoint.url: must not point to this service";

const create = ({ client }: { client: Pick<Api, "post"> }, webhook_endpoint: object = {}) =>
  client.post("/webhook_endpoints", { webhook_endpoint: { url: URL, ...webhook_endpoint } });

const update = ({ client }: Organization, { id }: { id: number }, webhook_endpoint: object) =>
  client.put(`/webhook_endpoints/${id}`, { webhook_endpoint });

const rotate = ({ client }: Organization, { id }: { id: number }) =>
  client.post(`/webhook_endpoints/${id}/rotate_secret`, undefined);

/** The secrets that sign, the current one last. */
async function secretsOf(clinic: Organization) {
  const [row] = await storedRows(clinic, "webhook_endpoints");
  const previous: { secret: string }[] = JSON.parse(row?.previous_secrets as string);
  return [...previous.map(({ secret }) => secret), row?.secret];
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
    const stored = await storedRows(clinic, "webhook_endpoints");
    expect(stored.map(({ event_types }) => event_types)).toEqual([null, null]);
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
    const [stored] = await storedRows(clinic, "webhook_endpoints");
    expect(JSON.parse(stored?.event_types as string)).toEqual(families);
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
      for (const write of [create(known, { url }), update(known, endpoint, { url })])
        expectRefusal(await write, 422, OWN);
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
    expectRefusal(await create(local, { url: "http://127.0.0.1:8787/hooks" }), 422, OWN);
  });
});

it("POST /webhook_endpoints accepts ten endpoints, even of thirty simultaneous requests", async () => {
  const clinic = await anOrganization();
  const answers = await atOnce(30, () => create(clinic));
  expect(statusesOf(answers)).toEqual({ 201: MAX_WEBHOOK_ENDPOINTS, 422: 30 - MAX_WEBHOOK_ENDPOINTS });
  const FULL =
    "The organization has 10 webhook endpoints, which is the most that it can have: delete one first";
  expectRefusal(await create(clinic), 422, FULL);
});

describe("POST /webhook_endpoints/{id}/rotate_secret", () => {
  it("lets each old secret sign for 24 hours, and is refused while the maximum of them do", async () => {
    const clinic = await anOrganization();
    const secrets = [await given(create(clinic))];
    const [endpoint] = secrets;
    secrets.push(await given(rotate(clinic, endpoint)));
    travelTo(fromNow(12 * HOUR));
    while (secrets.length <= MAX_OLD_WEBHOOK_SECRETS) secrets.push(await given(rotate(clinic, endpoint)));
    const signing = secrets.map(({ secret }) => secret);
    for (const secret of signing) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await secretsOf(clinic)).toEqual(signing);
    const refused = await changingNothing(() => rotate(clinic, endpoint));
    expectRefusal(refused, 422, /^The secret was rotated 5 times within a day: wait/);
    travelTo(fromNow(11 * HOUR + 1));
    const last = await given(rotate(clinic, endpoint));
    expect(await secretsOf(clinic)).toEqual([...signing.slice(1), last.secret]);
  });

  it("carries out thirty simultaneous requests one after the other, up to the maximum of old secrets", async () => {
    const clinic = await anOrganization();
    const endpoint = await given(create(clinic));
    const answers = await atOnce(30, () => rotate(clinic, endpoint));
    expect(statusesOf(answers)).toEqual({ 200: MAX_OLD_WEBHOOK_SECRETS, 422: 30 - MAX_OLD_WEBHOOK_SECRETS });
    const rotations = answers.flatMap(({ status, body }) => (status === 200 ? [body] : []));
    const signing = [endpoint, ...rotations].map(({ secret }) => secret);
    expect(new Set(await secretsOf(clinic))).toEqual(new Set(signing));
  });
});
