import type { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { verifyAccessLog } from "../../src/client/access_log.ts";
import { runCron } from "../../src/cron.ts";
import { envOfShard } from "../../src/database/shards.ts";
import { consumeWebhookDeliveries } from "../../src/delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { deleteOldRows, moveOrganization } from "../../src/dev/move.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import { DAY } from "../../src/units.ts";
import { anInvite, aProvider, aVisit } from "../support/clinic.ts";
import { anEndedCall } from "../support/reports.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { type ClinicInNode, openClinic, platformCredentials } from "./support/clinic_in_node.ts";
import { digestsOf, letMinutesPass, runIn, twoOrganizations } from "./support/moving.ts";
import { aBucket } from "./support/streams_of_workers.ts";
import {
  answer,
  type Handler,
  letTimePass,
  likeWorkers,
  makeRequest,
  ORIGIN,
} from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

const SHARDS = [0, 1, 2];

let databases: DatabaseSync[];
let trips: number[];
let env: Env;
let run: Run;
let clinic: ClinicInNode;

async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
  const request = makeRequest(method, `/api/${path}`, headers, body);
  const response = await answer(app.fetch as Handler, request, env);
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null, headers: response.headers };
}

/** Sends a request, and repeats it after a 503, because an isolate may still have the old place. */
async function sendTwice(...request: Parameters<typeof send>) {
  const first = await send(...request);
  return first.status === 503 ? send(...request) : first;
}

const client = (method: string, path: string, body?: object, more: object = {}) =>
  sendTwice(method, `external${path}`, { ...clinic.credentials, ...more }, body);

const platform = (method: string, path: string, body?: object) =>
  sendTwice(method, `platform${path}`, platformCredentials, body);

const clientOnce = (method: string, path: string, body?: object) =>
  send(method, `external${path}`, clinic.credentials, body);

/** Continues in another isolate. New bindings have nothing looked up. */
const inAnotherIsolate = () => {
  env = countingBindings();
};

const countingBindings = () =>
  bindingsOfShards(databases, async (shard) => {
    trips[shard] = (trips[shard] ?? 0) + 1;
  });

const move = (to: number, through: Run = run) => moveOrganization(through, { id: clinic.id, to }, SHARDS);

async function tripsOf(work: () => Promise<unknown>) {
  trips.fill(0);
  await work();
  return [...trips];
}

async function runChores(shard: number, now: number) {
  const { DB_1: _, DB_2: __, ...alone } = env as Env & Record<"DB_1" | "DB_2", D1Database>;
  const { DB } = envOfShard(env, shard);
  await runCron({ ...alone, DB } as Env, now);
}

/** Delivers the queue's message that something may be due in a database. */
async function sendWebhooks(shard: number) {
  const body = { schema: "webhook_deliveries/1", webhook_endpoint_id: null, shard };
  const message = { id: "message", body, attempts: 1, ack() {}, retry() {} };
  const work: Promise<unknown>[] = [];
  const background = { waitUntil: (each: Promise<unknown>) => work.push(each) };
  const batch = { queue: "webhook-deliveries", messages: [message] };
  await consumeWebhookDeliveries(batch as never, env, background as never);
  await Promise.all(work);
}

const newRoom = (name: string) => ({ waiting_room: { name, is_active: true } });

/** How often the platform's list of organizations shows this one. */
async function timesListed() {
  const { organizations, pagination } = (await platform("GET", "/organizations")).body;
  expect(organizations).toHaveLength(pagination.total_count);
  return organizations.filter(({ id }: { id: number }) => id === clinic.id).length;
}

beforeEach(async () => {
  databases = databasesInMemory(3);
  trips = [0, 0, 0];
  env = countingBindings();
  run = runIn(databases);
  clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "1" } as Env);
});

describe("An organization that has moved", () => {
  it("is found as before by its clients, the platform, rooms and links, in old and new isolates", async () => {
    const provider = await aProvider(clinic);
    const { path, token } = await aVisit(clinic);
    const exchange = { token_exchange: { token: await clinic.signIn() } };
    const { body: code } = await client("POST", "/auth/token_exchange", exchange);
    const key = { "Idempotency-Key": "room-1" };
    const created = await client("POST", "/waiting_rooms", newRoom("Radiology"), key);
    const before = await client("GET", "/events?per_page=100");
    await move(2);

    expect((await client("GET", path)).status).toBe(200);
    expect((await platform("GET", `/organizations/${clinic.id}`)).body).toMatchObject({ id: clinic.id });
    expect((await platform("GET", `/waiting_rooms/${provider.waiting_room_slug}`)).status).toBe(200);
    expect((await platform("POST", "/visits/redeem", { token: token ?? "" })).status).toBe(200);
    expect((await platform("POST", "/authorization_codes/redeem", code)).status).toBe(200);
    expect((await platform("POST", "/authorization_codes/redeem", code)).status).toBe(401);
    expect(await timesListed()).toBe(1);
    const room = await client("POST", "/waiting_rooms", newRoom("Cardiology"));
    expect(room.status).toBe(201);
    expect(room.headers.get("X-D1-Bookmark") ?? ".2").toMatch(/\.2$/);
    const stored = [1, 2].map((n) =>
      databases[n]?.prepare("select slug from waiting_rooms where id = ?").get(room.body.id),
    );
    expect(stored).toEqual([undefined, { slug: room.body.slug }]);
    const after = await client("GET", `/events?after=${before.body.next_after}`);
    expect(after.body.next_after).toBeGreaterThanOrEqual(before.body.next_after);

    for (const isolate of ["old", "new"]) {
      if (isolate === "new") inAnotherIsolate();
      const replayed = await client("POST", "/waiting_rooms", newRoom("Radiology"), key);
      expect(replayed.body).toEqual(created.body);
      expect(replayed.headers.get("Idempotent-Replayed")).toBe("true");
    }
    expect((await client("GET", `/waiting_rooms/${room.body.slug}`)).body).toEqual(room.body);
    expect((await platform("GET", `/waiting_rooms/${room.body.slug}`)).status).toBe(200);
  });

  it("costs one round trip more when a client is looked up after a refusal, and otherwise no more than others", async () => {
    const path = `/organizations/${clinic.id}`;
    const write = () => clientOnce("POST", "/waiting_rooms", newRoom("Radiology"));
    const report = () =>
      send("PUT", `platform${path}`, platformCredentials, { organization: { name: "Clinic" } });
    await write();
    await report();
    await move(2);
    // An isolate with the old place may read the old rows for a minute.
    expect(await tripsOf(() => clientOnce("GET", "/waiting_rooms"))).toEqual([0, 1, 0]);
    const refused = await write();
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "5"]);
    // Looks up the client: the old database knows the new place, and the new database has the client.
    expect(await tripsOf(write)).toEqual([0, 1, 2]);
    expect(await tripsOf(write)).toEqual([0, 0, 1]);
    expect((await report()).status).toBe(503);
    expect(await tripsOf(report)).toEqual([1, 0, 2]);
    expect(await tripsOf(report)).toEqual([0, 0, 2]);
  });

  it("gets queue messages, credentials and codes that name its new database, even from old isolates", async () => {
    const sent: unknown[] = [];
    const sendBatch = async (messages: MessageSendRequest[]) =>
      void sent.push(...messages.map(({ body }) => body));
    env = { ...env, BULK_INVITES: { sendBatch } as unknown as Queue };
    await client("GET", "/waiting_rooms");
    const token_exchange = { token: await clinic.signIn() };
    await move(2);
    await client("POST", "/invites/bulk_create", { organization_invites: [anInvite()] });
    expect(sent).toMatchObject([{ shard: 2 }]);
    const api_client = { name: "Second", organization_user_id: clinic.admin.id };
    const { body } = await client("POST", "/api_clients", { api_client });
    const own = { "X-Client-ID": body.client_id, "X-Client-Secret": body.client_secret };
    expect((await send("GET", "external/waiting_rooms", own)).status).toBe(200);
    // The service looks up a known client again meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const code = await client("POST", "/auth/token_exchange", { token_exchange });
    expect((await platform("POST", "/authorization_codes/redeem", code.body)).status).toBe(200);
  });

  it("is found by old ids of clients after its old rows are deleted, and after it moves on and back", async () => {
    for (const to of [2, 0, 1]) {
      await move(to);
      const { body } = await client("POST", "/waiting_rooms", newRoom(`Room ${to}`));
      expect(await timesListed()).toBe(1);
      letMinutesPass(databases);
      await deleteOldRows(run, clinic.id, SHARDS);
      inAnotherIsolate();
      expect((await client("GET", `/waiting_rooms/${body.slug}`)).status).toBe(200);
      expect((await platform("GET", `/waiting_rooms/${body.slug}`)).status).toBe(200);
    }
    expect(databases[1]?.prepare("select * from moves").all()).toEqual([]);
    expect(databases[2]?.prepare("select shard from moves").all()).toEqual([{ shard: 1 }]);
  });

  it("answers its clients while a move back is interrupted, and again once that is completed", async () => {
    await move(2);
    letMinutesPass(databases);
    // Each database names the other one.
    const isInterrupted = () =>
      [1, 2].every((n) => databases[n]?.prepare("select shard from moves").get()?.shard === 3 - n);
    const dying: Run = async (...batch) => {
      if (isInterrupted()) throw new Error("killed");
      return run(...batch);
    };
    await expect(move(1, dying)).rejects.toThrow("killed");
    inAnotherIsolate();
    expect((await clientOnce("GET", "/waiting_rooms")).status).toBe(200);
    expect((await clientOnce("POST", "/waiting_rooms", newRoom("Cardiology"))).status).toBe(503);
    await move(1);
    inAnotherIsolate();
    expect((await client("POST", "/waiting_rooms", newRoom("Cardiology"))).status).toBe(201);
  });

  it("is processed only by the chores of its new database, whatever rows it left in the old one", async () => {
    const scene = twoOrganizations();
    const [first] = scene.databases;
    await moveOrganization(scene.run, { id: 1, to: 1 }, SHARDS);
    const left = digestsOf(first, 1);
    const others = digestsOf(first, 2);
    const lines: string[] = [];
    const spies = (["log", "error"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((line) => void lines.push(line)),
    );
    env = bindingsOfShards(scene.databases);
    env.AUDIT_LOGS = aBucket();
    for (const days of [1, 40, 4000]) await runChores(0, Date.now() + days * DAY);
    for (const spy of spies) spy.mockRestore();
    expect(lines.filter((line) => line.includes('"event":"cron"'))).toHaveLength(3);
    expect(lines.filter((line) => /fail|fault|is moving/.test(line))).toEqual([]);
    expect(digestsOf(first, 1)).toEqual(left);
    expect(digestsOf(first, 2)).not.toEqual(others);
    await runChores(1, Date.now() + 4000 * DAY);
    expect(digestsOf(scene.databases[1], 1)).not.toEqual(left);
  });

  it("continues the chain of its sealed days, in which the verifier finds no fault", async () => {
    env.AUDIT_LOGS = aBucket();
    await anEndedCall(clinic);
    const sealsAfter = async (shard: number, days: number) => {
      for (let n = 0; n < 5; n++) await client("GET", "/access_logs");
      await runChores(shard, Date.now() + days * DAY);
      return (await client("GET", "/access_log_seals")).body.access_log_seals;
    };
    const sealed = await sealsAfter(1, 2);
    await move(2);
    const seals = await sealsAfter(2, 3);
    expect(seals).toHaveLength(2);
    expect(seals[0]).toEqual(sealed[0]);
    const checked = await verifyAccessLog({
      baseUrl: ORIGIN,
      clientId: clinic.credentials["X-Client-ID"] ?? "",
      clientSecret: clinic.credentials["X-Client-Secret"] ?? "",
      fetch: async (input, init) => answer(app.fetch as Handler, new Request(input, init), env),
    });
    expect(checked.entries).toBeGreaterThan(10);
    expect(checked.head?.seal_sha256).toBeDefined();
  });

  it("gets its webhooks from its new database, including the waiting ones", async () => {
    const webhook_endpoint = { url: clinic.aReceiver() };
    await client("POST", "/webhook_endpoints", { webhook_endpoint });
    await client("POST", "/invites", { organization_invite: anInvite() });
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

it("An organization that is moving can always be read, and answers writes with 503 while it is frozen", async () => {
  await client("GET", "/waiting_rooms");
  const statuses: number[] = [];
  const watching: Run = async (shard, statements) => {
    const answered = await run(shard, statements);
    const write = await clientOnce("POST", "/waiting_rooms", newRoom("Cardiology"));
    expect((await clientOnce("GET", "/waiting_rooms")).status).toBe(200);
    if (write.status === 503)
      expect(write.body).toEqual({
        error: "The organization is being moved to another database: try again",
      });
    statuses.push(write.status);
    return answered;
  };
  await move(2, watching);
  const [from, to] = [statuses.indexOf(503), statuses.lastIndexOf(503)];
  expect(new Set(statuses.slice(from, to + 1))).toEqual(new Set([503]));
  expect(new Set([...statuses.slice(0, from), ...statuses.slice(to + 1)])).toEqual(new Set([201]));
  expect(from).toBeGreaterThan(5);
  expect(statuses.length - to).toBeGreaterThan(1);
  const rooms = (await client("GET", "/waiting_rooms?per_page=100")).body.pagination.total_count;
  expect(rooms).toBe(statuses.filter((status) => status === 201).length);
});
