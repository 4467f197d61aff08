import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Api, api, PLATFORM_TOKEN, platform } from "../support/api.ts";
import { expectGone, expectRefusal, withoutRequestId } from "../support/expectations.ts";
import { liveKit } from "../support/livekit.ts";
import { anOrganization, type Organization, unique } from "../support/organization.ts";
import { fromNow } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const EXTERNAL_LIMIT = 64 * 1024;
const PLATFORM_LIMIT = 1024 * 1024;
const LIVEKIT_LIMIT = 256 * 1024;
const NOT_JSON = '{"waiting_room":';
const INVALID_CLIENT = "Invalid client credentials";
const INVALID_TOKEN = "Invalid platform token";
const MALFORMED = "Request body is not valid JSON";

const ofBytes = (bytes: number, body: unknown) => JSON.stringify(body).padEnd(bytes, " ");

const tooLarge = ofBytes(EXTERNAL_LIMIT + 1, { waiting_room: { name: "Cardiology" } });

const asText = { "Content-Type": "text/plain" };

const withoutContentType = (through: Pick<Api, "through">) =>
  through.through((request) => {
    const headers = new Headers(request.headers);
    headers.delete("Content-Type");
    return exports.default.fetch(new Request(request, { headers }));
  });

/** The API, reached by bodies in pieces and without a content length. */
const inPieces = (through: Pick<Api, "through">) =>
  through.through(async (request) => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 10_000) controller.enqueue(bytes.slice(at, at + 10_000));
        controller.close();
      },
    });
    const headers = new Headers(request.headers);
    headers.delete("Content-Length");
    return exports.default.fetch(new Request(request.url, { method: request.method, headers, body }));
  });

it("The external API accepts header names in any case", async () => {
  const { client } = await anOrganization();
  const credentials = {
    "x-client-id": client.credentials["X-Client-ID"],
    "X-CLIENT-SECRET": client.credentials["X-Client-Secret"],
  };
  expect((await api("/api/external", credentials).get("/waiting_rooms")).status).toBe(200);
});

it("The platform API refuses all wrong tokens in the same way", async () => {
  const clinic = await anOrganization();
  const slug = unique("org");
  const faults: Record<string, string>[] = [
    {},
    { Authorization: "" },
    { Authorization: "Bearer" },
    { Authorization: "Bearer " },
    { Authorization: "Bearer wrong" },
    { Authorization: `Bearer ${PLATFORM_TOKEN}x` },
    { Authorization: `Bearer ${PLATFORM_TOKEN.slice(0, -1)}` },
    { Authorization: `Basic ${PLATFORM_TOKEN}` },
    { Authorization: PLATFORM_TOKEN },
    clinic.client.credentials,
  ];
  const refusals: object[] = [];
  for (const credentials of faults) {
    const body = { organization: { name: "Forged", slug } };
    refusals.push(withoutRequestId(await api("/api/platform", credentials).post("/organizations", body)));
  }
  expect(refusals[0]).toMatchObject({ status: 401, body: { error: INVALID_TOKEN } });
  expect(refusals).toEqual(faults.map(() => refusals[0]));
  const rightful = await platform.post("/organizations", { organization: { name: "Rightful", slug } });
  expect(rightful.status).toBe(201);
});

describe("A request without credentials", () => {
  const external = api("/api/external", {});
  const stranger = api("/api/platform", {});

  it.each([
    ["the path is unknown", "GET", "/nowhere", undefined, {}],
    ["the path is not complete", "GET", "", undefined, {}],
    ["the path does not have this method", "PATCH", "/waiting_rooms", undefined, {}],
    ["the room is unknown", "GET", "/waiting_rooms/nowhere", undefined, {}],
    ["the query is invalid", "GET", "/waiting_rooms?page=0", undefined, {}],
    ["the body is too large", "POST", "/waiting_rooms", tooLarge, {}],
    ["the body is a form", "POST", "/waiting_rooms", "name=Cardiology", asText],
    ["the body is not JSON", "POST", "/waiting_rooms", NOT_JSON, {}],
    ["the body is invalid", "POST", "/waiting_rooms", {}, {}],
  ])("gets 401 and nothing else, even if %s", async (_, method, path, body, headers) => {
    expectRefusal(await external.send(method, path, body, headers), 401, INVALID_CLIENT);
  });

  it.each([
    ["the path is unknown", "GET", "/nowhere", undefined, {}],
    ["the id is not a number", "DELETE", "/organizations/1/api_clients/x", undefined, {}],
    ["the body is a form", "POST", "/organizations", "name=Clinic", asText],
    ["the body is not JSON", "POST", "/organizations", NOT_JSON, {}],
    ["the body is invalid", "POST", "/organizations", {}, {}],
  ])("gets 401 and nothing else at the platform API, even if %s", async (_, method, path, body, headers) => {
    expectRefusal(await stranger.send(method, path, body, headers), 401, INVALID_TOKEN);
  });
});

describe("An unknown path", () => {
  it.each([
    ["/nowhere", "GET"],
    ["", "GET"],
    ["/waiting_rooms/", "GET"],
    ["/waiting_rooms/x/y", "GET"],
    ["/Waiting_Rooms", "GET"],
    ["/organizations", "POST"],
  ])("returns 404 in the external API: %s by %s", async (path, method) => {
    const { client } = await anOrganization();
    expectRefusal(await client.send(method, path), 404, "Not found");
  });

  it.each([
    ["/nowhere", "GET"],
    ["/organization_users", "GET"],
    ["/waiting_rooms", "GET"],
    ["/calls/call-1", "PUT"],
    ["/calls/call-1", "GET"],
    ["/egresses/egress-1", "PUT"],
    ["/egresses/egress-1", "DELETE"],
    ["/api_clients/1", "DELETE"],
    ["/issuers/1", "DELETE"],
    ["/invites/1", "GET"],
  ])("returns 404 in the platform API: %s by %s", async (path, method) => {
    expectRefusal(await platform.send(method, path), 404, "Not found");
  });

  it.each(["/", "/api", "/api/nowhere", "/api/external_things", "/waiting_rooms"])(
    "returns 404 outside the APIs: %s",
    async (path) => {
      expectRefusal(await api("", {}).get(path), 404, "Not found");
    },
  );

  it("returns 404 whatever the body", async () => {
    const { client } = await anOrganization();
    for (const [body, headers] of [[tooLarge], ["name=Cardiology", asText], [NOT_JSON], [{}]] as const)
      expectRefusal(await client.send("POST", "/nowhere", body, headers), 404, "Not found");
  });
});

describe("The order of refusals", () => {
  it("checks the size of a body before its JSON", async () => {
    const { client } = await anOrganization();
    const tooLargeToParse = NOT_JSON.padEnd(EXTERNAL_LIMIT + 1);
    for (const headers of [{}, asText])
      expectRefusal(await client.send("POST", "/waiting_rooms", tooLargeToParse, headers), 413);
  });

  it("checks the body before the existence of resources", async () => {
    const { client, slug } = await anOrganization();
    const path = `/waiting_rooms/${slug}-nowhere`;
    expectRefusal(await client.put(path, tooLarge), 413);
    expectRefusal(await client.send("PUT", path, NOT_JSON, asText), 400, MALFORMED);
    expectRefusal(await client.put(path, NOT_JSON), 400, MALFORMED);
    expectRefusal(await client.put(path, { waiting_room: { is_active: "yes" } }), 422, /is_active/);
    expectRefusal(await client.put(path, { waiting_room: { is_active: true } }), 404);
    expectRefusal(await client.post(`${path}/waiting_room_subs`, { waiting_room_sub: {} }), 422, /user_id/);
    const organization = "/organizations/999999999";
    expectRefusal(await platform.post(`${organization}/users`, { user: {} }), 422, /user\.email/);
    expectRefusal(await platform.post(`${organization}/api_clients`, { api_client: {} }), 422, /api_client/);
    expectRefusal(
      await platform.put(`${path}/participants/rita`, { participant: { role: "guest" } }),
      422,
      /participant\.role/,
    );
  });

  it("checks the existence of a resource before its state", async () => {
    const clinic = await anOrganization();
    const { client, slug } = clinic;
    const path = `/waiting_rooms/${slug}-nowhere`;
    const nobody = { user_id: 999_999_999, datetime_start: fromNow(10) };
    expectRefusal(await client.post(`${path}/waiting_room_subs`, { waiting_room_sub: nobody }), 404);
    expectRefusal(
      await client.put(`${path}/waiting_room_subs/1`, { waiting_room_sub: { user_id: 999_999_999 } }),
      404,
    );
    expectRefusal(await platform.put(`${path}/participants/rita`, { participant: {} }), 404);
    const user = { email: clinic.admin.email, display_name: "Ada", roles: ["provider"], assists: [1] };
    expectRefusal(await platform.post("/organizations/999999999/users", { user }), 404);
  });
});

describe("A request body", () => {
  const cardiology = { waiting_room: { name: "Cardiology" } };

  it.each([
    ["if it has a content length", (clinic: Organization) => clinic.client],
    [
      "measured while it is read, if it has no content length",
      (clinic: Organization) => inPieces(clinic.client),
    ],
  ])("may have 64 KiB in the external API, and not a byte more, %s", async (_, through) => {
    const client = through(await anOrganization());
    const tooMuch = ofBytes(EXTERNAL_LIMIT + 1, cardiology);
    expectRefusal(await changingNothing(() => client.post("/waiting_rooms", tooMuch)), 413);
    const largest = await client.post("/waiting_rooms", ofBytes(EXTERNAL_LIMIT, cardiology));
    expect(largest).toMatchObject({ status: 201, body: { name: "Cardiology" } });
  });

  it("is measured in bytes, not in characters", async () => {
    const clinic = await anOrganization();
    const note = "é".repeat(EXTERNAL_LIMIT / 2);
    const refused = await clinic.client.post("/waiting_rooms", { ...cardiology, note });
    expectRefusal(refused, 413);
  });

  it("may have 1 MiB in the platform API, and not a byte more", async () => {
    const slug = unique("org");
    const body = { organization: { name: "Riverside Clinic", slug } };
    expectRefusal(await platform.post("/organizations", ofBytes(PLATFORM_LIMIT + 1, body)), 413);
    const largest = await platform.post("/organizations", ofBytes(PLATFORM_LIMIT, body));
    expect(largest.status).toBe(201);
  });

  it.each([
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/json;charset=UTF-8",
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonl",
    "json",
    "",
  ])("is read as JSON whatever its content type: %j", async (type) => {
    const { client } = await anOrganization();
    const headers = { "Content-Type": type };
    const sent = await client.send("POST", "/waiting_rooms", cardiology, headers);
    expect(sent).toMatchObject({ status: 201, body: { name: "Cardiology" } });
    const keyed = { ...headers, "Idempotency-Key": unique("key") };
    const first = await client.send("POST", "/waiting_rooms", cardiology, keyed);
    expect(first).toMatchObject({ status: 201, body: { name: "Cardiology" } });
    expect((await client.send("POST", "/waiting_rooms", cardiology, keyed)).body).toEqual(first.body);
    expectRefusal(await client.send("POST", "/waiting_rooms", "name=Cardiology", headers), 400, MALFORMED);
  });

  it("is read as JSON without a content type", async () => {
    const { client } = await anOrganization();
    const sent = await withoutContentType(client).post("/waiting_rooms", cardiology);
    expect(sent).toMatchObject({ status: 201, body: { name: "Cardiology" } });
  });

  it.each([
    "",
    " ",
    NOT_JSON,
    "name=Cardiology",
    "{'waiting_room': {}}",
    '{"waiting_room":{}}}',
    "\u{feff}x",
    undefined,
  ])("is refused if it is missing or not JSON: %j", async (body) => {
    const { client } = await anOrganization();
    expectRefusal(await changingNothing(() => client.post("/waiting_rooms", body)), 400, MALFORMED);
    const declared = { "Content-Type": "application/json" };
    expectRefusal(await client.send("POST", "/waiting_rooms", body, declared), 400, MALFORMED);
    expectRefusal(await platform.post("/organizations", body), 400, MALFORMED);
  });

  it.each([40, PLATFORM_LIMIT])("is refused if it has %i bytes that are not UTF-8", async (size) => {
    const { platform } = await anOrganization();
    const user = '{"user":{"display_name":"J\u00fcrgen"}}'.padEnd(size);
    const latin1 = Uint8Array.from(user, (letter) => letter.charCodeAt(0));
    expectRefusal(await platform.post("/users", latin1), 400, MALFORMED);
  });

  it.each(["null", "[]", "7", '"waiting_room"', "true", "{}"])(
    "is refused if it is JSON of another shape: %s",
    async (body) => {
      const { client } = await anOrganization();
      expectRefusal(await changingNothing(() => client.post("/waiting_rooms", body)), 422);
    },
  );

  it("is refused with an error that names each wrong field and its fault", async () => {
    const { client } = await anOrganization();
    const waiting_room = { name: " ", theme: "t".repeat(51) };
    const refused = await changingNothing(() => client.post("/waiting_rooms", { waiting_room }));
    expectRefusal(refused, 422, /waiting_room\.name: .*blank.*waiting_room\.theme: .*50 characters/);
  });
});

describe("Every response", () => {
  let answers: [expected: number, Answer][];

  beforeAll(async () => {
    const clinic = await anOrganization();
    const { client } = clinic;
    const room = await clinic.addRoom();
    const provider = await clinic.addProvider();
    const path = `/waiting_rooms/${room.slug}`;
    answers = [
      [200, await client.get("/waiting_rooms")],
      [200, await platform.get(path)],
      [200, await liveKit.send("{}")],
      [201, await client.post("/waiting_rooms", { waiting_room: { name: "Lungs" } })],
      [204, await client.delete(path)],
      [400, await client.get("/waiting_rooms?page=0")],
      [400, await client.post("/waiting_rooms", NOT_JSON)],
      [400, await liveKit.send(NOT_JSON)],
      [401, await api("/api/external", {}).get("/waiting_rooms")],
      [401, await api("/api/platform", {}).get(path)],
      [401, await api("/api/livekit", {}).post("/webhook", {})],
      [404, await client.get(path)],
      [404, await client.get("/nowhere")],
      [404, await clinic.platform.delete("/api_clients/x")],
      [404, await api("", {}).get("/")],
      [413, await client.post("/waiting_rooms", tooLarge)],
      [413, await liveKit.send("{}".padEnd(LIVEKIT_LIMIT + 1))],
      [422, await client.send("POST", "/waiting_rooms", "{}", asText)],
      [422, await client.post("/waiting_rooms", {})],
      [422, await client.delete(`/waiting_rooms/${provider.waiting_room_slug}`)],
    ];
  });

  it("has its own request id", async () => {
    const ids = answers.map(([, { headers }]) => headers.get("X-Request-Id"));
    for (const id of ids) expect(id).toMatch(/^\S{8,}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has the service's request id, not the caller's", async () => {
    const { client } = await anOrganization();
    const { headers } = await client.send("GET", "/waiting_rooms", undefined, {
      "X-Request-Id": "mine-1234",
    });
    expect(headers.get("X-Request-Id")).toMatch(/^\S{8,}$/);
    expect(headers.get("X-Request-Id")).not.toBe("mine-1234");
  });

  it("must not be stored by caches", async () => {
    const stored = answers.map(([, { headers }]) => headers.get("Cache-Control"));
    expect(new Set(stored)).toEqual(new Set(["no-store"]));
  });

  it("has the usual security headers", async () => {
    for (const [, { headers }] of answers) {
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("Strict-Transport-Security")).toMatch(/^max-age=[1-9]\d*/);
      expect(headers.get("X-Frame-Options")).toMatch(/^(DENY|SAMEORIGIN)$/);
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
      expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      expect(headers.get("X-Powered-By")).toBeNull();
    }
  });

  it("is JSON if it has a body, and a refusal contains only the error text", async () => {
    for (const [expected, answer] of answers) {
      if (expected === 204) {
        expectGone(answer);
        continue;
      }
      expect(answer.status).toBe(expected);
      expect(answer.headers.get("Content-Type")).toMatch(/^application\/json\b/);
      if (expected >= 400) expectRefusal(answer, expected);
    }
  });
});

it("A body with very many errors is refused with some of them and the number of the others", async () => {
  const { client } = await anOrganization();
  const { status, body } = await client.post("/invites/bulk_create", {
    organization_invites: Array(1000).fill({}),
  });
  expect(status).toBe(422);
  expect(body.error).toContain("organization_invites.0.email: is required");
  expect(body.error).toMatch(/; and 2990 more$/);
  expect(body.error.length).toBeLessThan(1000);
});
