import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient, VideoVisitError } from "../../../dist/client/external/index.js";
import { aClient, ndjson, refusal } from "../../support/a_client.ts";
import { all } from "../../support/all.ts";

const SETTINGS = { baseUrl: "https://visits.test", clientId: "id", clientSecret: "a-secret" };

const failureOf = (asked: Promise<unknown>): Promise<VideoVisitError> =>
  asked.then(
    () => expect.unreachable(),
    (error) => error,
  );

const silent: typeof fetch = (_, init) =>
  new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));

describe("VideoVisitError", () => {
  it("has the request, the status and the text of a refusal", async () => {
    const { client } = aClient([refusal(404, "Call not found")]);
    const error = await failureOf(client.getCall({ organization_user_id: 12, call_id: 300 }));
    expect(error).toBeInstanceOf(VideoVisitError);
    expect(error).toMatchObject({
      message: "GET /organization_users/12/calls/300: 404: Call not found",
      ...{ method: "GET", path: "/organization_users/12/calls/300", failed: "response", status: 404 },
    });
  });

  it.each([
    [404, false],
    [408, true],
    [422, false],
    [429, true],
    [500, true],
    [503, true],
  ])("for status %d has isTransient %s", async (status, isTransient) => {
    const { client } = aClient([refusal(status, "No")], { maxRetries: 0 });
    expect(await failureOf(client.listRoles())).toMatchObject({ status, isTransient });
  });

  it("keeps the runtime's error when a connection breaks", async () => {
    const cause = new TypeError("fetch failed");
    const { client } = aClient([cause], { maxRetries: 0 });
    const error = await failureOf(client.listRoles());
    expect(error).toMatchObject({ failed: "connection", status: undefined, cause, isTransient: true });
    expect(error.message).toBe("GET /roles: No complete response arrived");
  });

  it("reports a timeout", async () => {
    const client = createClient({ ...SETTINGS, fetch: silent, maxRetries: 0, timeout: 20 });
    const error = await failureOf(client.listRoles());
    expect(error).toMatchObject({ failed: "timeout", isTransient: true });
    expect(error.message).toBe("GET /roles: No complete response arrived within 20 milliseconds");
  });

  it("keeps the reason of an aborted signal, after which nothing is sent", async () => {
    const reason = new Error("The page was left");
    const gone = { failed: "aborted", cause: reason, isTransient: false };
    const { client, sent } = aClient();
    const before = failureOf(client.listRoles({}, { signal: AbortSignal.abort(reason) }));
    expect(await before).toMatchObject({ ...gone, message: "GET /roles: The signal ended the request" });
    expect(sent).toEqual([]);
    for (const fetching of [silent, (async () => refusal(503, "Later")) as typeof fetch]) {
      const controller = new AbortController();
      const client = createClient({ ...SETTINGS, fetch: fetching });
      const asked = failureOf(client.listRoles({}, { signal: controller.signal }));
      setTimeout(() => controller.abort(reason), 20);
      expect(await asked).toMatchObject(gone);
    }
  });

  it("shows no query, which may identify a patient, no secret and no response, whatever the failure", async () => {
    const asked = { participant_reference: "patient-4711" };
    const Location = "https://elsewhere.test/calls?participant_reference=patient-4711";
    const redirect = new Response(null, { status: 308, headers: { Location } });
    const path = "https://visits.test/api/external/calls?participant_reference=patient-4711";
    const asBun = Object.assign(new Error("Unable to connect"), { code: "ConnectionRefused", path });
    const cause = new Error(`error sending request for url (${path}): refused`);
    const asDeno = new TypeError("failed", { cause });
    const headers = { "Content-Type": "application/json" };
    const cutOff = new Response('{"display_name":"patient-4711', { headers });
    const answers = [redirect, asBun, asDeno, cutOff, refusal(503, "Later")];
    const { client } = aClient(answers, { maxRetries: 0, clientSecret: "a-secret" });
    const errors = [];
    for (const _ of answers) errors.push(await failureOf(client.findCalls(asked)));
    expect(inspect(errors, { depth: 9, showHidden: true })).not.toMatch(/4711|a-secret/);
    const failures = errors.map(({ failed }) => failed);
    expect(failures).toEqual(["response", "connection", "connection", "response", "response"]);
    expect(errors[0]?.text).toContain("A redirect to https://elsewhere.test,");
    expect(errors[1]?.cause).toMatchObject({ message: "Unable to connect", code: "ConnectionRefused" });
    expect(errors[4]?.path).toBe("/calls");
  });
});

describe("createClient", () => {
  it.each(["baseUrl", "clientId", "clientSecret"])("refuses a missing %s", (name) => {
    const error = new TypeError(`createClient: ${name} is missing`);
    for (const value of [undefined, ""])
      expect(() => createClient({ ...SETTINGS, [name]: value })).toThrow(error);
  });

  it.each([
    ["visits.example.com", "must be an address such as https://visits.example.com"],
    ["ftp://visits.example.com", "must begin with https://"],
    ["http://localhost.example.com", "must begin with https://"],
    ["http://127.0.0.1.example.com", "must begin with https://"],
    ["https://user:pa55@visits.example.com", "must not have a user name or a password in it"],
    ["http://user@localhost", "must not have a user name or a password in it"],
  ])("refuses the address %s, and shows no secret", (baseUrl, said) => {
    const make = () => createClient({ ...SETTINGS, baseUrl });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(`createClient: baseUrl ${said}`);
    expect(make).not.toThrow(/pa55|a-secret/);
  });

  it.each(["http://localhost:8787", "http://127.0.0.1", "http://[::1]:8787/", "http://visits.localhost"])(
    "accepts %s, which is on loopback",
    (baseUrl) => {
      expect(() => createClient({ ...SETTINGS, baseUrl })).not.toThrow();
    },
  );
});

describe("A request", () => {
  it("has its own retries and timeout", async () => {
    const once = aClient([refusal(503, "Later"), Response.json({ roles: [] })]);
    expect(await failureOf(once.client.listRoles({}, { maxRetries: 0 }))).toMatchObject({ status: 503 });
    expect(once.sent).toHaveLength(1);
    const client = createClient({ ...SETTINGS, fetch: silent, maxRetries: 0 });
    expect(await failureOf(client.listRoles({}, { timeout: 20 }))).toMatchObject({ failed: "timeout" });
  });

  it("is refused with invalid retries or an invalid timeout, as is a client", async () => {
    const { client, sent } = aClient();
    for (const timeout of [0, -1, Number.NaN, "30s" as never, null as never]) {
      expect(() => createClient({ ...SETTINGS, timeout: timeout ?? "x" })).toThrow(/^timeout: must be/);
      if (timeout !== null)
        await expect(client.listRoles({}, { timeout })).rejects.toThrow(/^timeout: must be/);
    }
    for (const maxRetries of [-1, 1.5, Number.NaN])
      await expect(client.listRoles({}, { maxRetries })).rejects.toThrow(/^maxRetries: must be/);
    expect(sent).toEqual([]);
    await client.listRoles({}, { timeout: Number.POSITIVE_INFINITY });
  });

  it("names the package's version in its User-Agent", async () => {
    const { client, sent } = aClient();
    await client.listRoles();
    const { "User-Agent": agent } = sent[0]?.headers ?? {};
    expect(agent).toMatch(/^organization-video-visit-client\/\d+\.\d+\.\d+$/);
  });
});

describe("listAccessLogs as NDJSON", () => {
  const unending = (lines: string) => ndjson([lines], { after: "nothing" });

  const listed = async (response: Response, more = {}, options = {}) =>
    aClient([response], more).client.listAccessLogs({}, { accept: "application/x-ndjson", ...options });

  it("yields item by item, even if a chunk ends within one", async () => {
    const { response } = ndjson(['{"id":1,"event":"read"}\n{"i', 'd":2}\n{"id":3', "}\n"]);
    expect(await all(await listed(response))).toEqual([{ id: 1, event: "read" }, { id: 2 }, { id: 3 }]);
  });

  const page = (lines: string, next?: number) => ndjson([lines], { ...(next && { next }) }).response;

  it("follows pages, including empty ones, and resumes after the last item when a connection breaks", async () => {
    const { client, sent } = aClient([
      page('{"id":1}\n{"id":2}\n', 5),
      page("", 9),
      ndjson(['{"id":11}\n{"id":12}\n'], { after: "break" }).response,
      page('{"id":13}\n'),
    ]);
    const items = await client.listAccessLogs({ event: "read" }, { accept: "application/x-ndjson" });
    expect(await all(items)).toEqual([1, 2, 11, 12, 13].map((id) => ({ id })));
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      "?event=read",
      "?event=read&after=5",
      "?event=read&after=9",
      "?event=read&after=12",
    ]);
  });

  it("fails if the next page does not follow the last one", async () => {
    for (const next of [1, 2, 1.5, -7]) {
      const { client } = aClient([page('{"id":1}\n{"id":2}\n', 7), page("", next)]);
      const items = await client.listAccessLogs({}, { accept: "application/x-ndjson" });
      expect(await failureOf(all(items))).toMatchObject({
        failed: "response",
        text: `The service continues the list after ${next}, which does not follow 7`,
      });
    }
  });

  /** Takes the items, and does something after each. `taken` are those that came before it failed. */
  async function failing(items: AsyncIterable<unknown>, afterEach: () => unknown) {
    const taken: unknown[] = [];
    const taking = (async () => {
      for await (const item of items) {
        taken.push(item);
        await afterEach();
      }
    })();
    return { error: await failureOf(taking), taken };
  }

  it("ends when its signal aborts within a chunk, or while it waits to resume", async () => {
    for (const [response, delay] of [
      [page('{"id":1}\n{"id":2}\n{"id":3}\n'), 0],
      [ndjson(['{"id":1}\n'], { after: "break" }).response, 50],
    ] as const) {
      const controller = new AbortController();
      const items = await listed(response, {}, { signal: controller.signal });
      const abort = () => (delay ? void setTimeout(() => controller.abort(), delay) : controller.abort());
      const { error, taken } = await failing(items, abort);
      expect(error).toMatchObject({ failed: "aborted" });
      expect(taken).toEqual([{ id: 1 }]);
    }
  });

  it("is cancelled if it is never begun, or left before its first item or its end", async () => {
    const lines = '{"id":1}\n{"id":2}\n';
    const [late, unread, left] = [unending(lines), unending(lines), unending(lines)];
    await listed(late.response, { timeout: 20 });
    const items = await listed(unread.response);
    await (items as AsyncIterableIterator<unknown>).return?.();
    for await (const _ of await listed(left.response)) break;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([late, unread, left].map(({ isCancelled }) => isCancelled)).toEqual([true, true, true]);
  });

  it("fails on a late or invalid line, but not because the caller is slow", async () => {
    const late = await listed(unending('{"id":1}\n').response, { timeout: 30, maxRetries: 0 });
    const { error, taken } = await failing(late, () => new Promise((resolve) => setTimeout(resolve, 60)));
    expect(error).toMatchObject({ failed: "timeout", path: "/access_logs" });
    expect(taken).toEqual([{ id: 1 }]);
    const invalid = failureOf(all(await listed(unending('{"id":1\n').response)));
    expect(await invalid).toMatchObject({ failed: "response", isTransient: false });
  });
});
