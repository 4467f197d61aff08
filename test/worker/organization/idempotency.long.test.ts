import { describe, expect, it } from "vitest";
import type { Fetcher } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { countingRoundTrips, storedRows } from "../support/database.ts";
import { expectMissingRole, expectRefusal } from "../support/expectations.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { externalExamples } from "../support/routes.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const HOUR = 60;

const ROUTES = [
  "POST /waiting_rooms",
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs",
  "POST /invites",
  "POST /invites/bulk_create",
  "POST /visits",
] as const;

const creationBy = (route: string) => [route, externalExamples[route] as Example] as const;

const creations = ROUTES.map(creationBy);

/** Operations whose response has a secret, so that a replay is refused. */
const WITH_SECRET = ["POST /webhook_endpoints", "POST /api_clients"].map(creationBy);

type Example = (organization: Organization) => Promise<{ path: string; body?: object }>;

/** A client that sends a request with a key, and keeps the bytes of each response. */
function repeating({ client }: Organization) {
  const bodies: string[] = [];
  const keeping: Fetcher = async (request) => {
    const response = await throughWorkerWith({})(request);
    bodies.push(await response.clone().text());
    return response;
  };
  const through = client.through(keeping);
  const post = (path: string, body: unknown, key: string) =>
    through.send("POST", path, body, { "Idempotency-Key": key });
  return { post, bodies };
}

const postWith = ({ client }: Organization, path: string, body: unknown, key: string) =>
  client.send("POST", path, body, { "Idempotency-Key": key });

const aRoomNamed = (name: string) => ({ waiting_room: { name } });

const keysOf = (organization: Organization) => storedRows(organization, "idempotency_keys");

const roomsOf = async ({ client }: Organization) =>
  (await given(client.get("/waiting_rooms"))).pagination.total_count as number;

describe.each(creations)("%s with an Idempotency-Key", (route, example) => {
  // The replay of a visit shows names, so it is recorded.
  const isRecorded = route === "POST /visits";

  it("creates one resource for requests at once, and replays the first response byte for byte", async () => {
    const organization = await anOrganization('Clinic "Zürich" \\ 診療所 🏥');
    const { path, body } = await example(organization);
    const key = unique("key");
    const { post, bodies } = repeating(organization);
    const answers = await atOnce(4, () => post(path, body, key));
    const replay = await (isRecorded ? changingOnlyTheLog : changingNothing)(() => post(path, body, key));
    answers.push(replay);
    expect(statusesOf(answers)).toEqual({ 201: 5 });
    const replays = answers.filter(({ headers }) => headers.get("Idempotent-Replayed") === "true");
    expect(replays).toHaveLength(4);
    expect(replays).toContain(replay);
    expect(new Set(answers.map(({ headers }) => headers.get("Location"))).size).toBe(1);
    expect(new Set(bodies).size).toBe(1);
  });

  it("costs no extra round trip, and a replay at most two", async () => {
    const organization = await anOrganization();
    const [one, another] = [await example(organization), await example(organization)];
    const counting = countingRoundTrips();
    const client = organization.client.through(counting.fetcher);
    await given(client.get("/roles"));
    const withKey = () => given(client.send("POST", one.path, one.body, { "Idempotency-Key": "1" }));
    const usual = await counting.during(() => given(client.post(another.path, another.body)));
    expect(await counting.during(withKey)).toBe(usual);
    expect(await counting.during(withKey)).toBeLessThanOrEqual(2);
  });
});

describe("An Idempotency-Key", () => {
  const path = "/waiting_rooms";

  it("is looked up in the primary database, whatever the bookmark", async () => {
    const organization = await anOrganization();
    const starts = new Set<string>();
    const DB = observedDatabase({
      query(run, start) {
        starts.add(start);
        return run();
      },
    });
    const client = organization.client.through(throughWorkerWith({ DB }));
    await given(client.get("/roles"));
    starts.clear();
    const headers = {
      "Idempotency-Key": "1",
      "X-D1-Bookmark": "00000000-00000000-00000000-00000000000000000000000000000000",
    };
    for (let n = 0; n < 2; n++) await given(client.send("POST", path, aRoomNamed("A"), headers));
    expect([...starts]).toEqual(["first-primary"]);
  });

  it("belongs to the same request whether or not its body is chunked", async () => {
    const organization = await anOrganization();
    const inPieces: Fetcher = ({ url, headers: sent, body }) => {
      const headers = new Headers(sent);
      headers.delete("Content-Length");
      headers.set("Transfer-Encoding", "chunked");
      return throughWorkerWith({})(new Request(url, { method: "POST", headers, body }));
    };
    const post = (client: Pick<typeof organization.client, "send">) =>
      given(client.send("POST", path, aRoomNamed("Oncology"), { "Idempotency-Key": "1" }));
    const chunked = organization.client.through(inPieces);
    const room = await post(chunked);
    for (const client of [organization.client, chunked]) expect(await post(client)).toEqual(room);
  });

  it("is refused when reused with another body, or with the same body for another room's subs", async () => {
    const organization = await anOrganization();
    const [one, another] = [await organization.addRoom(), await organization.addRoom()];
    const { user_id } = await organization.addProvider();
    const sub = (datetime_start: string) => ({ waiting_room_sub: { user_id, datetime_start } });
    const subsOf = ({ slug }: { slug: string }) => `${path}/${slug}/waiting_room_subs`;
    const body = sub("2126-01-31T09:30:00Z");
    await given(postWith(organization, subsOf(one), body, "1"));
    for (const [room, otherBody] of [
      [one, sub("2126-01-31T09:31:00Z")],
      [one, `${JSON.stringify(body)} `],
      [another, body],
    ])
      expectRefusal(
        await changingNothing(() => postWith(organization, subsOf(room), otherBody, "1")),
        422,
        "Idempotency-Key: was already used for another request; each request needs its own key",
      );
    await given(postWith(organization, subsOf(one), body, "1"));
  });

  it("is refused when reused for another operation, even with the same body", async () => {
    const organization = await anOrganization();
    const requests = [];
    for (const [, example] of [...creations, ...WITH_SECRET]) requests.push(await example(organization));
    // One body for all of them: each operation reads its own part, and ignores the rest.
    const body = Object.assign({}, ...requests.map(({ body }) => body));
    const key = unique("key");
    const [first = "", ...others] = requests.map(({ path }) => path);
    await given(postWith(organization, first, body, key));
    for (const other of others) {
      const { status } = await changingNothing(() => postWith(organization, other, body, key));
      expect([other, status]).toEqual([other, 422]);
      await given(postWith(organization, other, body, unique("key")));
    }
  });

  it("belongs to one client: another client can use it for its own request", async () => {
    const organization = await anOrganization();
    const colleague = await organization.addClient(organization.admin.id);
    const stranger = await anOrganization();
    const key = unique("key");
    const rooms = [];
    for (const { client } of [organization, { client: colleague }, stranger])
      rooms.push(await given(client.send("POST", path, aRoomNamed("Oncology"), { "Idempotency-Key": key })));
    expect(new Set(rooms.map(({ id }) => id)).size).toBe(3);
  });

  const BAD_KEY = "Idempotency-Key: must be 1 to 255 printable ASCII characters, for example a UUID";

  it("must have 1 to 255 printable ASCII characters", async () => {
    const organization = await anOrganization();
    const post = (key: string) => postWith(organization, path, aRoomNamed("A"), key);
    const tooLong = ["x".repeat(256), `"${"x".repeat(256)}"`, "x".repeat(9000)];
    for (const key of ["", '""', ...tooLong, "schl\u00fcssel", "a\tkey"])
      expectRefusal(await changingNothing(() => post(key)), 400, BAD_KEY);
    // The standard writes quotes: the last key is that before it.
    for (const key of ["x", '"', "~ !", `"${"x".repeat(255)}"`, "a key", '"a key"']) await given(post(key));
    expect(await roomsOf(organization)).toBe(5);
  });

  it.each([...creations, ...WITH_SECRET])(
    "is refused if it is malformed, before the body is read: %s",
    async (_, example) => {
      const organization = await anOrganization();
      const { path } = await example(organization);
      for (const body of [{}, "no JSON", "x".repeat(2 * 1024 * 1024)])
        expectRefusal(await postWith(organization, path, body, "x".repeat(256)), 400, BAD_KEY);
    },
  );

  it.each([...WITH_SECRET, creationBy("POST /invites")])(
    "replays nothing for a caller who lost access to it: %s",
    async (route, example) => {
      const organization = await anOrganization();
      const { path, body } = await example(organization);
      const invite = { organization_invite: anInvite({ role_names: ["organization_admin"] }) };
      const colleague = await organization.addUser("Ada", ["organization_admin"]);
      const client = await organization.addClient(colleague.id);
      const isInvite = route === "POST /invites";
      const post = () => client.send("POST", path, isInvite ? invite : body, { "Idempotency-Key": "1" });
      await given(post());
      await given(organization.platform.put(`/users/${colleague.id}`, { user: { roles: ["provider"] } }));
      travelTo(fromNow(1));
      const refused = await changingNothing(post);
      if (isInvite) expect(refused.status).toBe(422);
      else expectMissingRole(refused);
      await given(organization.platform.delete(`/api_clients/${client.id}`));
      travelTo(fromNow(1));
      expect((await post()).status).toBe(401);
    },
  );

  it("stores no email and no name of an invitee, and still replays the same response", async () => {
    const organization = await anOrganization();
    const email = `${unique("Ivy")}@Example.com`;
    const body = { organization_invite: { ...anInvite(), email: ` ${email} `, display_name: " Ivy " } };
    const key = unique("key");
    const invite = await given(postWith(organization, "/invites", body, key));
    expect(invite).toMatchObject({ email: email.toLowerCase(), display_name: "Ivy" });
    const [stored] = await keysOf(organization);
    expect(JSON.parse(stored?.result as string).id).toBe(invite.id);
    expect(JSON.stringify(stored)).not.toMatch(/ivy/i);
    await given(organization.client.delete(`/invites/${invite.id}`));
    expect(await given(postWith(organization, "/invites", body, key))).toEqual(invite);
  });

  it("is not kept if the request is refused", async () => {
    const organization = await anOrganization();
    const key = unique("key");
    const { email, ...invite } = anInvite();
    const post = (each: object) => postWith(organization, "/invites", { organization_invite: each }, key);
    expect(await post(invite)).toMatchObject({ status: 422 });
    const taken = organization.admin.email;
    expect(await changingNothing(() => post({ ...invite, email: taken }))).toMatchObject({ status: 422 });
    await given(post({ ...invite, email }));
  });

  it("replays the first response even if the resource has changed or is gone", async () => {
    const organization = await anOrganization();
    const key = unique("key");
    const room = await given(postWith(organization, path, aRoomNamed("Oncology"), key));
    await given(organization.client.put(`${path}/${room.slug}`, aRoomNamed("Cardiology")));
    expect(await given(postWith(organization, path, aRoomNamed("Oncology"), key))).toEqual(room);
    await given(organization.client.delete(`${path}/${room.slug.replace("oncology", "cardiology")}`));
    expect(await given(postWith(organization, path, aRoomNamed("Oncology"), key))).toEqual(room);
    expect(await roomsOf(organization)).toBe(0);
  });

  it("is valid for 24 hours, whether or not the cron has deleted it by then", async () => {
    const organization = await anOrganization();
    const post = async () => {
      for (const key of ["1", "2"]) await given(postWith(organization, path, aRoomNamed("Oncology"), key));
      return roomsOf(organization);
    };
    travelTo(fromNow(0));
    await post();
    travelTo(fromNow(24 * HOUR - 1));
    await workerWith({}).runCron();
    expect(await post()).toBe(2);
    travelTo(fromNow(1));
    expect([await post(), await post()]).toEqual([4, 4]);
    travelTo(fromNow(24 * HOUR + 1));
    expect(await keysOf(organization)).toHaveLength(2);
    await workerWith({}).runCron();
    expect(await keysOf(organization)).toEqual([]);
  });
});

it.each(WITH_SECRET)(
  "%s with an Idempotency-Key creates one resource, and refuses a replay with advice, because the secret is not stored",
  async (_, example) => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const count = async () => (await storedRows(organization, path.slice(1))).length;
    const before = await count();
    const answers = await atOnce(8, () => postWith(organization, path, body, "1"));
    expect(statusesOf(answers)).toEqual({ 201: 1, 409: 7 });
    for (const replay of answers.filter(({ status }) => status === 409)) {
      expectRefusal(replay, 409, /rotate its secret|revoke/);
      expect(replay.headers.get("Idempotent-Replayed")).toBeNull();
    }
    expect(await count()).toBe(before + 1);
    expect(await keysOf(organization)).toMatchObject([{ key: "1", result: null }]);
  },
);
