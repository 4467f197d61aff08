import { describe, expect, it } from "vitest";
import { paginate } from "../../../dist/client/external/index.js";
import { aClient, html, refusal } from "../../support/a_client.ts";
import { all } from "../../support/all.ts";

const NOT_OF_THE_SERVICE = {
  name: "VideoVisitError",
  status: 200,
  text: "The response did not come from the service",
};

const slug = "cardiology";
const ROOM = { waiting_room: { name: "Radiology" } };

const typed = (body: string, type: string) => new Response(body, { headers: { "Content-Type": type } });

const nothing = () => new Response(null, { status: 204 });

const broken = () => new TypeError("fetch failed");

const gone = () => refusal(404, "Waiting room not found");

describe("A response that did not come from the service", () => {
  it("is an error for every operation, and the request is not repeated", async () => {
    const { client, sent } = aClient([html(), html(), html(), html(), html()]);
    for (const ask of [
      () => client.getWaitingRoom({ slug }),
      () => client.retireWaitingRoom({ slug }),
      () => client.createWaitingRoom(ROOM),
      () => all(paginate(client.listWaitingRooms)),
      () => client.followEvents().next(),
    ])
      await expect(ask()).rejects.toMatchObject(NOT_OF_THE_SERVICE);
    expect(sent).toHaveLength(5);
  });

  it.each([
    ["nothing", () => nothing(), 204],
    ["text", () => new Response("ok"), 200],
    ["bytes without a type", () => new Response(new Uint8Array(3)), 200],
    ["JSON of another kind", () => typed("{}", "application/json-seq"), 200],
  ])("is %s where JSON is expected", async (_, answer, status) => {
    const { client } = aClient([answer()]);
    await expect(client.listRoles()).rejects.toMatchObject({ ...NOT_OF_THE_SERVICE, status });
  });

  it("is JSON where text, a file or nothing is expected", async () => {
    const json = () => Response.json({});
    const { client } = aClient([json(), json(), json(), json()]);
    const call = { organization_user_id: 1, call_id: 2 };
    for (const asked of [
      client.getTranscript(call, { accept: "text/vtt" }),
      client.listAccessLogs({}, { accept: "application/x-ndjson" }),
      client.getSealedAccessLog({ date: "2026-01-31" }),
      client.retireWaitingRoom({ slug }),
    ])
      await expect(asked).rejects.toMatchObject(NOT_OF_THE_SERVICE);
  });

  it("is a page without a list", async () => {
    const { client } = aClient([Response.json({ status: "ok" })]);
    await expect(all(paginate(client.listWaitingRooms))).rejects.toThrow(
      new TypeError("paginate: the function does not return pages"),
    );
  });

  it("does not confirm a deletion after a broken attempt", async () => {
    const { client } = aClient([broken(), html(404)]);
    await expect(client.retireWaitingRoom({ slug })).rejects.toMatchObject({ status: 404 });
  });
});

it("The client accepts media types with parameters, in upper or lower case", async () => {
  const { client, sent } = aClient([
    typed('{"id": 1}', "Application/JSON; charset=UTF-8"),
    typed("WEBVTT\n", "text/vtt; charset=utf-8"),
    typed('{"uuid": "1"}', "application/vcon+json"),
    typed('{"payload": "e30"}', "application/vcon+jws"),
    typed("{}\n", "application/x-ndjson"),
    typed("zipped", "application/gzip"),
    nothing(),
  ]);
  const call = { organization_user_id: 1, call_id: 2 };
  expect(await client.getTranscript(call)).toEqual({ id: 1 });
  expect(await client.getTranscript(call, { accept: "text/vtt" })).toBe("WEBVTT\n");
  expect(await client.getCall(call, { accept: "application/vcon+json" })).toEqual({ uuid: "1" });
  expect(await client.getCall(call, { accept: "application/vcon+jws" })).toEqual({ payload: "e30" });
  expect(await all(await client.listAccessLogs({}, { accept: "application/x-ndjson" }))).toEqual([{}]);
  expect(await (await client.getSealedAccessLog({ date: "2026-01-31" })).text()).toBe("zipped");
  expect(await client.retireWaitingRoom({ slug })).toBeUndefined();
  expect(sent.slice(0, 6).map(({ headers }) => headers.Accept)).toEqual([
    "application/json",
    "text/vtt",
    "application/vcon+json",
    "application/vcon+jws",
    "application/x-ndjson",
    "application/gzip",
  ]);
});

describe("mayHaveSucceeded", () => {
  it("is true if an update is refused after an attempt that broke", async () => {
    const { client } = aClient([broken(), gone()]);
    const updating = client.updateWaitingRoom({ slug, ...ROOM });
    await expect(updating).rejects.toMatchObject({ status: 404, mayHaveSucceeded: true });
  });

  it.each([
    [true, "the connection broke", broken],
    [true, "the service failed", () => refusal(500, "Internal server error")],
    // The database may lose the connection after it wrote.
    [true, "the database was not available", () => refusal(503, "The database is not available")],
    [true, "another server answered", html],
    [false, "nothing was found", gone],
    [false, "the request was invalid", () => refusal(422, "No")],
    [false, "there were too many requests", () => refusal(429, "No")],
  ])("is %s if %s", async (mayHaveSucceeded, _, answer) => {
    const { client } = aClient([answer()], { maxRetries: 0 });
    await expect(client.createWaitingRoom(ROOM)).rejects.toMatchObject({ mayHaveSucceeded });
  });

  it("is false if only a 429 came before the refusal", async () => {
    const { client } = aClient([refusal(429, "Wait", { "Retry-After": "0" }), gone()]);
    const updating = client.updateWaitingRoom({ slug, ...ROOM });
    await expect(updating).rejects.toMatchObject({ mayHaveSucceeded: false });
  });

  it("is false for a read", async () => {
    const { client } = aClient([broken()], { maxRetries: 0 });
    await expect(client.listRoles()).rejects.toMatchObject({ mayHaveSucceeded: false });
  });
});

describe("Deleting", () => {
  it("succeeds if an earlier attempt may have deleted the resource, and onResponse gets the 404", async () => {
    for (const first of [broken(), refusal(500, "Internal server error"), refusal(503, "Not available")]) {
      const { client } = aClient([first, gone()]);
      const statuses: number[] = [];
      await client.retireWaitingRoom({ slug }, { onResponse: ({ status }) => statuses.push(status) });
      expect(statuses).toEqual([404]);
    }
  });

  it("fails if a deletion that returns something gets 404, because there is nothing to return", async () => {
    const { client } = aClient([broken(), refusal(404, "Participants not found")]);
    const erasing = client.eraseParticipant({ external_reference: "patient-1" });
    await expect(erasing).rejects.toMatchObject({ status: 404, mayHaveSucceeded: true });
  });

  it.each([404, 429])("fails if no earlier attempt can have deleted it (first %d)", async (first) => {
    const { client } = aClient([refusal(first, "No", { "Retry-After": "0" }), gone()]);
    await expect(client.retireWaitingRoom({ slug })).rejects.toMatchObject({ status: 404 });
  });
});

describe("onResponse", () => {
  async function statusesOf(answers: (Response | Error)[]) {
    const statuses: number[] = [];
    const { client, sent } = aClient(answers, { maxRetries: 2 });
    const onResponse = ({ status, headers }: { status: number; headers: Headers }) =>
      statuses.push(headers.has("Content-Type") ? status : 0);
    await client.listRoles({}, { onResponse }).catch(() => {});
    expect(sent).toHaveLength(answers.length);
    return statuses;
  }
  const busy = () => refusal(503, "Not now", { "Retry-After": "0" });

  it("is called once, with the final response", async () => {
    expect(await statusesOf([busy(), busy(), Response.json({})])).toEqual([200]);
    expect(await statusesOf([busy(), refusal(404, "No")])).toEqual([404]);
    expect(await statusesOf([busy(), busy(), busy()])).toEqual([503]);
  });

  it("is not called if the last attempt gets no response", async () => {
    expect(await statusesOf([busy(), busy(), broken()])).toEqual([]);
  });
});
