import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { isSharded } from "../support/deployed.ts";
import { aLiveKitRoom, liveKit } from "../support/livekit.ts";
import { observedDatabase, PRIMARY } from "../support/observed_database.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { externalExamples, FROM_THE_NEAREST, platformExamples } from "../support/routes.ts";
import { throughWorkerWith } from "../support/worker.ts";

/** A bookmark as D1 writes it. The service's own bookmark also names the database, unless that is the first. */
const D1_BOOKMARK = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";
const A_BOOKMARK = isSharded ? `${D1_BOOKMARK}.1` : D1_BOOKMARK;
const BOOKMARK = isSharded
  ? /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}(\.1)?$/
  : /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

/** A fetcher to the Worker that records how the sessions of its queries were opened. */
function notingSessions() {
  const starts = new Set<string>();
  const DB = observedDatabase({
    query(run, start) {
      starts.add(start);
      return run();
    },
  });
  return {
    fetcher: throughWorkerWith({ DB }),
    async during(work: () => Promise<unknown>) {
      starts.clear();
      await work();
      return [...starts];
    },
  };
}

/** How the route's queries open their session, for a known client. */
async function whereReads(route: string, headers: Record<string, string> = {}) {
  const organization = await anOrganization();
  const { path, body } = (await externalExamples[route]?.(organization)) ?? { path: "" };
  const [method = ""] = route.split(" ");
  const noted = notingSessions();
  const client = organization.client.through(noted.fetcher);
  await given(client.get("/roles"));
  return noted.during(() => given(client.send(method, path, body, headers)));
}

/** Data that a withdrawn consent changes at once, and reads that the access log records with a write. */
const ON_THE_PRIMARY =
  /\/(egresses|consents|participants|transcript|soap_note)|\/:call_id$|\/calls$|access_logs|visits/;

describe("Recordings, consents, dependent data and recorded reads", () => {
  const routes = Object.keys(externalExamples).filter(
    (route) => route.startsWith("GET ") && ON_THE_PRIMARY.test(route),
  );

  it.each(routes)("come from the primary, even with a bookmark: %s", async (route) => {
    expect(await whereReads(route, { "X-D1-Bookmark": A_BOOKMARK })).toEqual(["first-primary"]);
  });
});

/** A fetcher to a Worker whose replicas lag: only the primary finds anything. It counts the round trips. */
function laggingReplicas() {
  let trips = 0;
  const DB = observedDatabase({
    async query(run, start) {
      trips++;
      const found = await run();
      if (start === PRIMARY || start === "first-primary") return found;
      const withoutRows = (result: D1Result) => ({ ...result, results: [] });
      return (Array.isArray(found) ? found.map(withoutRows) : withoutRows(found as D1Result)) as typeof found;
    },
  });
  return {
    fetcher: throughWorkerWith({ DB }),
    async during<T>(work: () => Promise<T>) {
      trips = 0;
      return { result: await work(), trips };
    },
  };
}

describe("If a replica finds nothing, the primary is asked", () => {
  /** The metrics of a provider with a call, and a known client that reaches only lagging replicas. */
  async function aScene() {
    const organization = await anOrganization();
    const { user_id, ...provider } = await organization.addProvider();
    await aCall(organization, {}, provider);
    const lagging = laggingReplicas();
    const client = organization.client.through(lagging.fetcher);
    await given(client.get("/roles"));
    const path = `/call_metrics?date_start=2026-01-31&date_end=2026-01-31&user_id=${user_id}`;
    return { organization, client, lagging, path };
  }

  it.each<Record<string, string>>([{}, { "X-D1-Bookmark": A_BOOKMARK }])(
    "before the response is 404: metrics of a user, with the headers %j",
    async (headers) => {
      const { organization, client, lagging, path } = await aScene();
      const onPrimary = await given(organization.client.get(path));
      const { result, trips } = await lagging.during(() => client.send("GET", path, undefined, headers));
      expect(result).toMatchObject({ status: 200, body: onPrimary });
      expect(result.headers.get("X-D1-Bookmark")).toMatch(BOOKMARK);
      expect(trips).toBe(2);
    },
  );

  const naming = (examples: object) =>
    Object.keys(examples).filter((route) => /^GET .*:/.test(route) && !ON_THE_PRIMARY.test(route));

  it.each([
    ...naming(externalExamples).map((route) => ["external", route] as const),
    ...naming(platformExamples).map((route) => ["platform", route] as const),
  ])("for every resource that a path names, in the %s API: %s", async (api, route) => {
    const organization = await anOrganization();
    const examples = api === "external" ? externalExamples : platformExamples;
    const { path } = (await examples[route]?.(organization)) ?? { path: "" };
    const { fetcher, during } = laggingReplicas();
    const client = api === "external" ? organization.client : platform;
    const lagging = client.through(fetcher);
    if (api === "external") await given(lagging.get("/roles"));
    const bookmark = { "X-D1-Bookmark": A_BOOKMARK };
    const { result, trips } = await during(() => lagging.send("GET", path, undefined, bookmark));
    expect(result).toMatchObject({ status: 200, body: await given(client.get(path)) });
    expect(trips).toBe(2);
  });

  it("once, and the response is 404 if the primary finds nothing either", async () => {
    const { client, lagging } = await aScene();
    const { result, trips } = await lagging.during(() => client.get("/call_metrics?user_id=999999999"));
    expect(result).toMatchObject({ status: 404, body: { error: "User not found" } });
    expect(result.headers.get("X-D1-Bookmark")).toMatch(BOOKMARK);
    expect(trips).toBe(2);
  });

  it("but not for a path or a query that is refused unread, nor if the primary was asked already", async () => {
    const { client, lagging } = await aScene();
    const tripsOf = async (path: string) => (await lagging.during(() => client.get(path))).trips;
    expect(await tripsOf("/organization_users/x/calls/1/transcript")).toBe(0);
    expect(await tripsOf("/call_metrics?user_id=x")).toBe(0);
    expect(await tripsOf("/nowhere")).toBe(0);
    expect(await tripsOf("/waiting_rooms/unknown")).toBe(1);
  });
});

describe("A bookmark", () => {
  it("is in every response that used the database, in every API", async () => {
    const organization = await anOrganization();
    const { client, id } = organization;
    const answers = [
      await client.get("/waiting_rooms"),
      await client.get("/call_metrics"),
      await client.get("/waiting_rooms/unknown"),
      await client.post("/waiting_rooms", { waiting_room: { name: "Oncology" } }),
      await platform.get("/waiting_rooms/unknown"),
      await liveKit.send((await aLiveKitRoom(organization)).joined("rita", 0)),
      await platform.post(`/organizations/${id}/users`, {
        user: { email: `paul@${id}.example.com`, display_name: "Paul", roles: ["provider"] },
      }),
    ];
    for (const { headers } of answers) expect(headers.get("X-D1-Bookmark")).toMatch(BOOKMARK);
  });

  it.each([...FROM_THE_NEAREST, "GET /waiting_rooms", "GET /invites"])(
    "in a request allows any replica that has reached it: %s",
    async (route) => {
      expect(await whereReads(route, { "X-D1-Bookmark": A_BOOKMARK })).toEqual([D1_BOOKMARK]);
    },
  );

  it.each(["/waiting_rooms", "/call_metrics", "/events"])(
    "makes the primary answer if the database cannot use it, as after a restore: %s",
    async (path) => {
      const { client } = await anOrganization();
      const starts: string[] = [];
      const DB = observedDatabase({
        query(run, start) {
          starts.push(start);
          if (start === D1_BOOKMARK) throw new Error("D1_ERROR: no such bookmark");
          return run();
        },
      });
      const { send } = client.through(throughWorkerWith({ DB }));
      await given(send("GET", "/roles"));
      starts.length = 0;
      await given(send("GET", path, undefined, { "X-D1-Bookmark": A_BOOKMARK }));
      expect(starts).toEqual([D1_BOOKMARK, "first-primary"]);
    },
  );

  it.each(["POST /waiting_rooms", "POST /auth/token_exchange", "DELETE /invites/:id"])(
    "does not keep writes away from the primary: %s",
    async (route) => {
      expect(await whereReads(route, { "X-D1-Bookmark": A_BOOKMARK })).toEqual(["first-primary"]);
    },
  );

  it.each(["garbage", "first-unconstrained", `${A_BOOKMARK}0`, A_BOOKMARK.replace("8e61", "XXXX")])(
    "is ignored if it is malformed: %s",
    async (malformed) => {
      expect(await whereReads("GET /waiting_rooms", { "X-D1-Bookmark": malformed })).toEqual([
        "first-primary",
      ]);
      expect(await whereReads("GET /call_metrics", { "X-D1-Bookmark": malformed })).toEqual([
        "first-unconstrained",
      ]);
    },
  );
});

it("An API client is looked up on the primary, so that it works at once, and its revocation counts even if a replica lags", async () => {
  const { client } = await anOrganization();
  const noted = notingSessions();
  const asking = client.through(noted.fetcher);
  expect(await noted.during(() => given(asking.get("/roles")))).toEqual([PRIMARY]);
  const unknown = { "X-Client-ID": unique("made-up") };
  expect(await noted.during(() => asking.send("GET", "/roles", undefined, unknown))).toEqual([PRIMARY]);
});
