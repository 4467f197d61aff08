import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Api, api, platform } from "../support/api.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { liveKit } from "../support/livekit.ts";
import { anOrganization, type Organization, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const EXTERNAL_LIMIT = 64 * 1024;
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

/** The API, reached by bodies without a content length. */
const asStream = (through: Pick<Api, "through">) =>
  through.through(async (request) => {
    const headers = new Headers(request.headers);
    headers.delete("Content-Length");
    const bytes = new Uint8Array(await request.arrayBuffer());
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
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

it("A request without credentials gets 401 and nothing else, whatever else is wrong", async () => {
  for (const [method, path, body] of [
    ["GET", "/nowhere"],
    ["GET", ""],
    ["PATCH", "/waiting_rooms"],
    ["GET", "/organizations/x"],
    ["GET", "/waiting_rooms?page=0"],
    ["POST", "/waiting_rooms", tooLarge],
    ["POST", "/organizations", NOT_JSON],
  ] as const)
    for (const name of ["external", "platform"]) {
      const error = name === "external" ? INVALID_CLIENT : INVALID_TOKEN;
      expectRefusal(await api(`/api/${name}`, {}).send(method, path, body), 401, error);
    }
});

it("An unknown path returns 404, whatever the body", async () => {
  const { client } = await anOrganization();
  for (const path of ["/nowhere", "", "/waiting_rooms/", "/Waiting_Rooms", "/calls/call-1"])
    for (const each of [client, platform]) expectRefusal(await each.get(path), 404, "Not found");
  for (const path of ["/", "/api", "/api/nowhere", "/api/external_things", "/waiting_rooms"])
    expectRefusal(await api("", {}).get(path), 404, "Not found");
  for (const body of [tooLarge, NOT_JSON, {}])
    expectRefusal(await client.post("/nowhere", body), 404, "Not found");
});

it("A body is checked before the existence of what the path names, and its size before its JSON", async () => {
  const { client, slug } = await anOrganization();
  const path = `/waiting_rooms/${slug}-nowhere`;
  expectRefusal(await client.put(path, NOT_JSON.padEnd(EXTERNAL_LIMIT + 1)), 413);
  expectRefusal(await client.send("PUT", path, NOT_JSON, asText), 400, MALFORMED);
  expectRefusal(await client.put(path, { waiting_room: { is_active: "yes" } }), 422, /is_active/);
  expectRefusal(await client.put(path, { waiting_room: { is_active: true } }), 404);
});

describe("A request body", () => {
  const cardiology = { waiting_room: { name: "Cardiology" } };

  it.each([
    ["if it has a content length", (clinic: Organization) => clinic.client],
    [
      "measured while it is read, if it has no content length",
      (clinic: Organization) => asStream(clinic.client),
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

  it.each(["Application/JSON; charset=utf-8", "multipart/form-data; boundary=x", "json", "", undefined])(
    "is read as JSON whatever its content type: %j",
    async (type) => {
      const clinic = await anOrganization();
      const client = type === undefined ? withoutContentType(clinic.client) : clinic.client;
      const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
      const sent = await client.send("POST", "/waiting_rooms", cardiology, headers);
      expect(sent).toMatchObject({ status: 201, body: { name: "Cardiology" } });
      const keyed = { ...headers, "Idempotency-Key": unique("key") };
      const first = await client.send("POST", "/waiting_rooms", cardiology, keyed);
      expect(first).toMatchObject({ status: 201, body: { name: "Cardiology" } });
      expect((await client.send("POST", "/waiting_rooms", cardiology, keyed)).body).toEqual(first.body);
      expectRefusal(await client.send("POST", "/waiting_rooms", "name=Cardiology", headers), 400, MALFORMED);
    },
  );

  it("is refused if it is missing, not UTF-8 or not JSON", async () => {
    const latin1 = Uint8Array.from('{"organization":{"name":"J\u00fcrgen"}}', (letter) =>
      letter.charCodeAt(0),
    );
    for (const body of [" ", "name=Cardiology", '{"waiting_room":{}}}', "\u{feff}x", latin1, undefined]) {
      const { client } = await anOrganization();
      expectRefusal(await changingNothing(() => client.post("/waiting_rooms", body)), 400, MALFORMED);
      const declared = { "Content-Type": "application/json" };
      expectRefusal(await client.send("POST", "/waiting_rooms", body, declared), 400, MALFORMED);
      expectRefusal(await platform.post("/organizations", body), 400, MALFORMED);
    }
  });

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
      [200, await client.send("GET", "/waiting_rooms", undefined, { "X-Request-Id": "mine-1234" })],
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
    expect(ids).not.toContain("mine-1234");
    expect(new Set(ids).size).toBe(ids.length);
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
