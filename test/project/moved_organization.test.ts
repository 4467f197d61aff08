import type { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { verifyAccessLog } from "../../src/client/access_log.ts";
import { runCron } from "../../src/cron.ts";
import { deleteOldRows, moveOrganization } from "../../src/dev/move.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import { consumeWebhookDeliveries } from "../../src/resources/webhook_lanes/webhook_lanes.queue.ts";
import { DAY } from "../../src/units.ts";
import { anInvite, aProvider, aVisit } from "../support/clinic.ts";
import { anEndedCall, aTranscript, reported } from "../support/reports.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { type ClinicInNode, openClinic, platformCredentials } from "./support/clinic_in_node.ts";
import { letTimePass } from "./support/load_over_shards.ts";
import { digestsOf, runIn } from "./support/moving.ts";
import { aBucket } from "./support/streams_of_workers.ts";
import { answer, type Handler, likeWorkers, makeRequest, ORIGIN } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

const SHARDS = [0, 1, 2];

let databases: DatabaseSync[];
let trips: number[];
let env: Env;
let run: Run;
let clinic: ClinicInNode;

/** Sends a request to the service, and returns the status with the body and the headers. */
async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
  const response = await answer(
    app.fetch as Handler,
    makeRequest(method, `/api/${path}`, headers, body),
    env,
  );
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null, headers: response.headers };
}

const client = (method: string, path: string, body?: object, more: object = {}) =>
  send(method, `external${path}`, { ...clinic.credentials, ...more }, body);

const platform = (method: string, path: string, body?: object) =>
  send(method, `platform${path}`, platformCredentials, body);

/** Another isolate, which has looked nothing up: its bindings are other objects. */
const inAnotherIsolate = () => {
  env = { ...env };
};

const move = (to: number, through: Run = run) => moveOrganization(through, { id: clinic.id, to }, SHARDS);

/** How many round trips some work costs each database. */
async function tripsOf(work: () => Promise<unknown>) {
  trips.fill(0);
  await work();
  return [...trips];
}

/** Runs the chores of a database at a time. */
async function runChores(shard: number, now: number) {
  const { DB_1: _, DB_2: __, ...alone } = env as Env & Record<"DB_1" | "DB_2", D1Database>;
  const DB = (env as unknown as Record<string, D1Database>)[`DB_${shard}`] as D1Database;
  await runCron({ ...alone, DB } as Env, now);
}

/** Lets the queue say that something may be due in a database. */
async function sendWebhooks(shard: number) {
  const body = { schema: "webhook_deliveries/1", webhook_endpoint_id: null, shard };
  const message = { id: "message", body, attempts: 1, ack() {}, retry() {} };
  const work: Promise<unknown>[] = [];
  const background = { waitUntil: (each: Promise<unknown>) => work.push(each) };
  const batch = { queue: "webhook-deliveries", messages: [message] };
  await consumeWebhookDeliveries(batch as never, env, background as never);
  await Promise.all(work);
}

/** Lets whatever is fetched from the service's address come from it. */
async function throughService<Result>(work: () => Promise<Result>): Promise<Result> {
  const outer = globalThis.fetch;
  globalThis.fetch = (async (input: RequestInfo | URL, init?: RequestInit) =>
    answer(app.fetch as Handler, new Request(input, init), env)) as typeof fetch;
  try {
    return await work();
  } finally {
    globalThis.fetch = outer;
  }
}

const newRoom = (name: string) => ({ waiting_room: { name, is_active: true } });

beforeEach(async () => {
  databases = databasesInMemory(3);
  trips = [0, 0, 0];
  env = bindingsOfShards(databases, async (shard) => {
    trips[shard] = (trips[shard] ?? 0) + 1;
  });
  run = runIn(databases);
  clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "1" } as Env);
});

describe("An organization that has moved", () => {
  it("is found by its clients, the platform, rooms and links as before, by isolates that knew it and others", async () => {
    const provider = await aProvider(clinic);
    await reported(clinic, aTranscript(await anEndedCall(clinic, provider)));
    const { path, token } = await aVisit(clinic);
    const { body: code } = await client("POST", "/auth/token_exchange", {
      token_exchange: { token: await clinic.signIn() },
    });
    const before = await client("GET", "/events?per_page=100");
    const calls = await client("GET", "/calls");
    await move(2);

    expect((await client("GET", "/calls")).body).toEqual(calls.body);
    expect((await client("GET", path)).status).toBe(200);
    expect((await platform("GET", `/organizations/${clinic.id}`)).body).toMatchObject({ id: clinic.id });
    expect((await platform("GET", `/waiting_rooms/${provider.waiting_room_slug}`)).status).toBe(200);
    expect((await platform("POST", "/visits/redeem", { token: token ?? "" })).status).toBe(200);
    expect((await platform("POST", "/authorization_codes/redeem", code)).status).toBe(200);
    expect((await platform("POST", "/authorization_codes/redeem", code)).status).toBe(401);
    const room = await client("POST", "/waiting_rooms", newRoom("Cardiology"));
    expect(room.status).toBe(201);
    const listed = (await platform("GET", "/organizations")).body.organizations;
    expect(listed.filter(({ id }: { id: number }) => id === clinic.id)).toHaveLength(1);
    const after = await client("GET", `/events?after=${before.body.next_after}`);
    expect(after.body.next_after).toBeGreaterThanOrEqual(before.body.next_after);
    expect(
      databases[1]?.prepare("select 1 from waiting_rooms where id = ?").get(room.body.id),
    ).toBeUndefined();

    inAnotherIsolate();
    expect((await client("GET", `/waiting_rooms/${room.body.slug}`)).body).toEqual(room.body);
    expect((await platform("GET", `/waiting_rooms/${room.body.slug}`)).status).toBe(200);
  });

  it("is listed once, also where it has left the first database", async () => {
    await move(0);
    await move(2);
    const { organizations, pagination } = (await platform("GET", "/organizations")).body;
    expect(organizations.filter(({ id }: { id: number }) => id === clinic.id)).toHaveLength(1);
    expect(organizations).toHaveLength(pagination.total_count);
  });

  it("costs what others cost: at most one round trip more where a client is first seen, and one where an isolate knew it", async () => {
    await client("GET", "/waiting_rooms");
    await platform("GET", `/organizations/${clinic.id}`);
    expect(await tripsOf(() => client("GET", "/waiting_rooms"))).toEqual([0, 1, 0]);
    await move(2);
    expect(await tripsOf(() => client("GET", "/waiting_rooms"))).toEqual([0, 1, 1]);
    expect(await tripsOf(() => client("GET", "/waiting_rooms"))).toEqual([0, 1, 2]);
    expect(await tripsOf(() => client("GET", "/waiting_rooms"))).toEqual([0, 0, 1]);
    expect(await tripsOf(() => client("POST", "/waiting_rooms", newRoom("Radiology")))).toEqual([0, 0, 1]);
    expect(await tripsOf(() => platform("GET", `/organizations/${clinic.id}`))).toEqual([0, 1, 1]);
    expect(await tripsOf(() => platform("GET", `/organizations/${clinic.id}`))).toEqual([0, 0, 1]);
  });

  it("is written to by isolates that knew it before: in its new database", async () => {
    await client("GET", "/waiting_rooms");
    await move(2);
    const { status, body, headers } = await client("POST", "/waiting_rooms", newRoom("Cardiology"));
    expect(status).toBe(201);
    expect(databases[2]?.prepare("select slug from waiting_rooms where id = ?").get(body.id)).toEqual({
      slug: body.slug,
    });
    expect(headers.get("X-D1-Bookmark") ?? ".2").toMatch(/\.2$/);
  });

  it("queues what isolates send that knew it before for its new database", async () => {
    const sent: unknown[] = [];
    const send = async (body: unknown) => void sent.push(body);
    env = { ...env, BULK_INVITES: { send } as unknown as Queue };
    await client("GET", "/waiting_rooms");
    await move(2);
    const { status } = await client("POST", "/invites/bulk_create", { organization_invites: [anInvite()] });
    expect(status).toBe(201);
    expect(sent).toMatchObject([{ shard: 2 }]);
  });

  it("makes credentials and codes that name its new database, also in isolates that knew it before", async () => {
    await client("GET", "/waiting_rooms");
    const token_exchange = { token: await clinic.signIn() };
    await move(2);
    const api_client = { name: "Second", organization_user_id: clinic.admin.id };
    const { status, body } = await client("POST", "/api_clients", { api_client });
    expect(status).toBe(201);
    const own = { "X-Client-ID": body.client_id, "X-Client-Secret": body.client_secret };
    expect((await send("GET", "external/waiting_rooms", own)).status).toBe(200);
    // A client that is known is looked up again.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const code = await client("POST", "/auth/token_exchange", { token_exchange });
    expect((await platform("POST", "/authorization_codes/redeem", code.body)).status).toBe(200);
  });

  it("replays requests with an Idempotency-Key of before", async () => {
    const key = { "Idempotency-Key": "room-1" };
    const first = await client("POST", "/waiting_rooms", newRoom("Cardiology"), key);
    await move(2);
    for (const again of [0, 1, 2]) {
      if (again === 2) inAnotherIsolate();
      const replayed = await client("POST", "/waiting_rooms", newRoom("Cardiology"), key);
      expect(replayed.body).toEqual(first.body);
      expect(replayed.headers.get("Idempotent-Replayed")).toBe("true");
    }
  });

  it("is found by old ids of clients when its old rows are deleted, when it moves on, and when it comes back", async () => {
    for (const to of [2, 0, 1]) {
      await move(to);
      const { body } = await client("POST", "/waiting_rooms", newRoom(`Room ${to}`));
      await deleteOldRows(run, clinic.id, SHARDS);
      inAnotherIsolate();
      expect((await client("GET", `/waiting_rooms/${body.slug}`)).status).toBe(200);
      expect((await platform("GET", `/waiting_rooms/${body.slug}`)).status).toBe(200);
    }
    expect(databases[1]?.prepare("select * from moves").all()).toEqual([]);
    expect(databases[2]?.prepare("select shard from moves").all()).toEqual([{ shard: 1 }]);
  });

  it("is worked on by the chores of its new database alone", async () => {
    await anEndedCall(clinic);
    await client("PUT", "/organization", { organization: { participant_retention_days: 1 } });
    await move(2);
    const before = digestsOf(databases[1] as DatabaseSync, clinic.id);
    await runChores(1, Date.now() + 40 * DAY);
    expect(digestsOf(databases[1] as DatabaseSync, clinic.id)).toEqual(before);
    await runChores(2, Date.now() + 40 * DAY);
    const erased = "select count(*) as count from participants where erased_at is not null";
    expect(databases[2]?.prepare(erased).get()).toEqual({ count: 2 });
  });

  it("goes on with the chain of its sealed days, in which the verifier of the access log finds no fault", async () => {
    env.AUDIT_LOGS = aBucket();
    const reads = async () => {
      for (let n = 0; n < 5; n++) await client("GET", "/access_logs");
    };
    await reads();
    await runChores(1, Date.now() + 2 * DAY);
    const sealed = await client("GET", "/access_log_seals");
    await move(2);
    await reads();
    await runChores(2, Date.now() + 3 * DAY);
    const { access_log_seals } = (await client("GET", "/access_log_seals")).body;
    expect(access_log_seals).toHaveLength(2);
    expect(access_log_seals[0]).toEqual(sealed.body.access_log_seals[0]);
    const { credentials } = clinic;
    const checked = await throughService(() =>
      verifyAccessLog({
        baseUrl: ORIGIN,
        clientId: credentials["X-Client-ID"] ?? "",
        clientSecret: credentials["X-Client-Secret"] ?? "",
      }),
    );
    expect(checked.entries).toBeGreaterThan(10);
    expect(checked.head?.seal_sha256).toBeDefined();
  });

  it("gets its webhooks from its new database, those too that were waiting", async () => {
    const url = clinic.aReceiver();
    await client("POST", "/webhook_endpoints", { webhook_endpoint: { url } });
    await client("POST", "/invites", {
      organization_invite: { email: "ivy@example.com", display_name: "Ivy", role_names: ["provider"] },
    });
    const pending = (shard: number) =>
      databases[shard]
        ?.prepare("select count(*) as n from webhook_deliveries where next_attempt_at is not null")
        .get();
    expect(pending(1)).toEqual({ n: 1 });
    await move(2);
    for (const shard of [1, 2]) await sendWebhooks(shard);
    expect([pending(1), pending(2)]).toEqual([{ n: 1 }, { n: 0 }]);
  });
});

describe("An organization that is moving", () => {
  it("is read all the time, and is written to but for the moment in which it is frozen: then it is 503, and to be tried again", async () => {
    await client("GET", "/waiting_rooms");
    await client("GET", "/calls");
    const seen: { write: number; read: number }[] = [];
    const watching: Run = async (shard, statements) => {
      const answered = await run(shard, statements);
      const write = await client("POST", "/waiting_rooms", newRoom("Cardiology"));
      const read = await client("GET", "/waiting_rooms");
      if (write.status === 503) {
        expect(write.body).toEqual({
          error: "The organization is being moved to another database: try again",
        });
        expect(Number(write.headers.get("Retry-After"))).toBeGreaterThan(0);
      }
      seen.push({ write: write.status, read: read.status });
      return answered;
    };
    await move(2, watching);
    expect(new Set(seen.map(({ read }) => read))).toEqual(new Set([200]));
    const statuses = seen.map(({ write }) => write);
    const [from, to] = [statuses.indexOf(503), statuses.lastIndexOf(503)];
    expect(statuses.slice(from, to + 1).every((status) => status === 503)).toBe(true);
    expect([...statuses.slice(0, from), ...statuses.slice(to + 1)].every((status) => status === 201)).toBe(
      true,
    );
    expect(from).toBeGreaterThan(5);
    expect(statuses.length - to).toBeGreaterThan(1);
    const made = statuses.filter((status) => status === 201).length;
    const rooms = (await client("GET", "/waiting_rooms?per_page=100")).body.pagination.total_count;
    expect(rooms).toBe(made);
  });
});
