import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { app } from "../../src/app.ts";
import { verifyAccessLog } from "../../src/client/access_log.ts";
import { runCron } from "../../src/cron.ts";
import { envOfShard } from "../../src/database/shards.ts";
import { consumeWebhookDeliveries } from "../../src/delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { storeIn } from "../../src/dev/file_store.ts";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { deleteOldRows, moveOrganization, undoMove } from "../../src/dev/move.ts";
import { copyLateFiles } from "../../src/dev/old_files.ts";
import type { Regions } from "../../src/dev/region_files.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import { readStorageSettings } from "../../src/settings.ts";
import { DAY } from "../../src/units.ts";
import { anInvite, aProvider, aVisit } from "../support/clinic.ts";
import { anEndedCall } from "../support/reports.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { type ClinicInNode, openClinic, platformCredentials } from "./support/clinic_in_node.ts";
import {
  digestsOf,
  dyingAfter,
  letMinutesPass,
  livingFor,
  runIn,
  twoOrganizations,
} from "./support/moving.ts";
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

it("An organization that moves to another region loses no recording, killed at any step, and no download that has begun", async () => {
  const folder = mkdtempSync(join(tmpdir(), "buckets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 5 }));
  const r2_buckets = ["RECORDINGS", "AUDIT_LOGS", "RECORDINGS_EU", "AUDIT_LOGS_EU"].map((binding) => ({
    binding,
    bucket_name: binding.toLowerCase().replaceAll("_", "-"),
  }));
  const config = join(folder, "wrangler.json");
  writeFileSync(config, JSON.stringify({ r2_buckets }));
  await withLocalBindings({ persistTo: folder, config }, async (local) => {
    Object.assign(env, local, { SHARD_REGIONS: "0=us,1=us,2=eu", RECORDINGS_S3_BUCKET: "recordings" });
    for (const [name, value] of Object.entries(env))
      if (name.startsWith("RECORDINGS_S3_")) Object.assign(env, { [`${name}_EU`]: value });
    env = { ...env, RECORDINGS_S3_BUCKET_EU: "recordings-eu" } as Env;
    const { regions, recordings } = realRegions(env);
    const { key: call_key, results } = await anEndedCall(clinic);
    const files = new Map<string, Uint8Array>();
    const reported = new Map<string, number>();

    /** The recorder writes to the old bucket, and reports its file until the report is accepted. */
    async function record(size: number) {
      const name = `${clinic.slug}/${files.size}.wav`;
      files.set(name, Uint8Array.from(randomBytes(size)));
      await recordings.us.put(name, files.get(name) as Uint8Array);
    }
    async function report() {
      for (const storage_key of files.keys()) {
        if (reported.has(storage_key)) continue;
        const egress = { call_key, status: "egress_ended", storage_key };
        const path = `platform/organizations/${clinic.id}/egresses/${storage_key.replace("/", "-")}`;
        const { status, body } = await send("PUT", path, platformCredentials, { egress });
        if (status !== 503) reported.set(storage_key, body.id);
      }
    }
    /** Returns the stored file, or undefined while the organization is frozen. */
    async function download(storage_key: string) {
      const path = `${results}/egresses/${reported.get(storage_key)}`;
      const { status, body } = await clientOnce("GET", path);
      if (status === 503) return undefined;
      const [, bucket, key = ""] = /\/s3\/recordings(?:-(eu))?\/(.*)$/.exec(new URL(body.url).pathname) ?? [];
      return (bucket === "eu" ? recordings.eu : recordings.us).get(key);
    }
    const bytesOf = async (file: R2ObjectBody | null | undefined) =>
      new Uint8Array((await file?.arrayBuffer()) ?? []);

    await record(3_000_000);
    await record(1000);
    await report();
    const [long = "", short = ""] = files.keys();
    const begun = (await download(long))?.body.getReader();
    const chunks = [(await begun?.read())?.value];
    let batches = 0;
    const underLoad: Run = async (shard, statements) => {
      const answered = await run(shard, statements);
      if (++batches % 40 === 0) await record(1000);
      if (batches % 10 === 0) await report();
      if (batches % 7 === 0) {
        const file = await download(short);
        if (file !== undefined) expect(await bytesOf(file)).toEqual(files.get(short));
      }
      return answered;
    };
    let undone = 0;
    for (let steps = 0, isOver = false; !isOver; steps += 5) {
      const live = livingFor(steps);
      const through = dyingAfter(steps, underLoad, live);
      const moving = moveOrganization(through, { id: clinic.id, to: 2 }, SHARDS, undefined, regions(live));
      isOver = await moving.then(
        () => true,
        () => false,
      );
      if (isOver || steps % 2 === 0) continue;
      const undoing = undoMove(run, { id: clinic.id, to: 2 }, regions()).then(() => undone++);
      await undoing.catch(({ message }) => expect(message).toContain("has moved"));
    }
    expect(undone).toBeGreaterThan(5);
    await sendTwice("GET", "external/calls", clinic.credentials);
    await report();
    expect(reported.size).toBe(files.size);
    await copyLateFiles({ id: clinic.id, run, shards: SHARDS, regions: regions() });
    const { objects } = await recordings.eu.list();
    expect(objects.map(({ key }) => key).toSorted()).toEqual([...files.keys()].toSorted());
    for (const [key, bytes] of files) expect(await bytesOf(await download(key))).toEqual(bytes);
    for (let part = await begun?.read(); !part?.done; part = await begun?.read()) chunks.push(part?.value);
    expect(Buffer.concat(chunks as Uint8Array[])).toEqual(Buffer.from(files.get(long) as Uint8Array));
  });
});

/** The buckets of an environment, each of whose uses is a step. */
function realRegions(of: Env) {
  const inEurope = envOfShard(of, 2);
  const storeOf = (bucket: R2Bucket, live: () => void) =>
    new Proxy(storeIn({ settings: readStorageSettings(of), recordings: bucket }), {
      get(store, name) {
        live();
        return Reflect.get(store, name);
      },
    });
  const regions = (live = () => {}): Regions => ({
    regionOf: (shard) => (shard === 2 ? "eu" : "us"),
    filesOf(shard) {
      const { RECORDINGS, AUDIT_LOGS } = shard === 2 ? inEurope : of;
      const region = shard === 2 ? "eu" : "us";
      const [recordings, auditLogs] = [storeOf(RECORDINGS, live), storeOf(AUDIT_LOGS, live)];
      return { region, bucketName: region, recordings, auditLogs, lockedDays: async () => 0 };
    },
  });
  return { regions, recordings: { us: of.RECORDINGS, eu: inEurope.RECORDINGS } };
}
