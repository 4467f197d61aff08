import type { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { deleteOldRows, moveOrganization } from "../../src/dev/move.ts";
import { done } from "../e2e/support/ended.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { type ClinicInNode, openClinic } from "./support/clinic_in_node.ts";
import { letTimePass } from "./support/load_over_shards.ts";
import { digestsOf, fillOrganization, letMinutesPass, runIn } from "./support/moving.ts";
import { aServiceAtCloudflare } from "./support/service_at_cloudflare.ts";
import { answer, type Handler, likeWorkers, makeRequest } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

const SHARDS = [0, 1];
const HOURS = 1000;
const ROWS = 30_000;

interface Written {
  key: string;
  slug: string;
}

/** In milliseconds. A client may send 1,200 requests a minute, and half of them are reads here. */
const PAUSE = 100;

/** Clients that write and read as fast as they may, and retry after a 503 with the same key. */
function startClients({ credentials }: ClinicInNode, env: Env, count: number) {
  const written: Written[] = [];
  const faults: string[] = [];
  const events: number[] = [];
  let refused = 0;
  let isOver = false;
  const send = async (method: string, path: string, body?: object, headers: object = {}) => {
    for (;;) {
      const request = makeRequest(method, `/api/external${path}`, { ...credentials, ...headers }, body);
      const response = await answer(app.fetch as Handler, request, env);
      const text = await response.text();
      if (response.status === 503 && response.headers.get("Retry-After")) {
        refused++;
        // A real client waits for a second. This one retries sooner, and so more often.
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      if (response.status >= 300) faults.push(`${method} ${path} ${response.status} ${text}`);
      return JSON.parse(text);
    }
  };
  const writers = Array.from({ length: count }, async (_, writer) => {
    for (let n = 0; !isOver; n++) {
      const key = `${writer}-${n}`;
      const body = { waiting_room: { name: `Room ${key}`, is_active: true } };
      const { slug } = await send("POST", "/waiting_rooms", body, { "Idempotency-Key": key });
      written.push({ key, slug });
      // The writer sees its own write.
      const seen = await send("GET", `/waiting_rooms/${slug}`);
      if (seen.slug !== slug) faults.push(`${slug} is not there`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  });
  const follower = (async () => {
    for (let after = 0; !isOver; ) {
      const page = await send("GET", `/events?after=${after}&per_page=100`);
      events.push(...page.events.map(({ id }: { id: number }) => id));
      after = page.next_after;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    written,
    async end() {
      isOver = true;
      await Promise.all([...writers, follower]);
      return { written, faults, refused, events };
    },
  };
}

/** Expects that nothing was lost or created twice, and that no client got an error other than 503. */
function expectWhole(
  { written, faults, events }: Awaited<ReturnType<ReturnType<typeof startClients>["end"]>>,
  database: DatabaseSync,
  id: number,
) {
  expect(faults).toEqual([]);
  const rooms = database
    .prepare("select slug from waiting_rooms where organization_id = ? and name like 'Room %'")
    .all(id)
    .map(({ slug }) => String(slug));
  expect(rooms.toSorted()).toEqual(written.map(({ slug }) => slug).toSorted());
  expect(new Set(events).size).toBe(events.length);
  expect(events.toSorted((a, b) => a - b)).toEqual(events);
}

describe("An organization of 30,000 rows, including 1,000 hours of transcripts,", () => {
  let databases: [DatabaseSync, DatabaseSync];
  let env: Env;
  let clinic: ClinicInNode;

  beforeAll(async () => {
    databases = databasesInMemory(2) as typeof databases;
    env = bindingsOfShards(databases);
    clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "0" } as Env);
    fillOrganization(databases[0], clinic.id, { rows: ROWS, hours: HOURS });
  });

  it("moves while clients write and read, and loses nothing", async () => {
    const clients = startClients(clinic, env, 8);
    await vi.waitFor(() => expect(clients.written.length).toBeGreaterThan(20), { timeout: 20_000 });
    const run = runIn(databases);
    const moved = await moveOrganization(run, { id: clinic.id, to: 1 }, SHARDS);
    const count = clients.written.length;
    await vi.waitFor(() => expect(clients.written.length).toBeGreaterThan(count + 20), { timeout: 20_000 });
    const end = await clients.end();
    expectWhole(end, databases[1], clinic.id);
    expect(end.refused).toBeGreaterThan(0);
    expect(moved?.rows).toBeGreaterThan(ROWS);
    process.stdout.write(`Frozen for ${Math.round(moved?.frozen_for ?? 0)} ms, with ${moved?.rows} rows.\n`);

    // Moves back without any writes, and compares the digests of all rows.
    const before = digestsOf(databases[1], clinic.id);
    letMinutesPass(databases);
    await deleteOldRows(run, clinic.id, SHARDS);
    await moveOrganization(run, { id: clinic.id, to: 0 }, SHARDS);
    expect(digestsOf(databases[0], clinic.id)).toEqual(before);
    expect(before.call_texts?.count).toBe(HOURS);
  });
});

it("`npm run organizations:move -- --remote` moves an organization while its clients write, and loses nothing", async () => {
  const service = await aServiceAtCloudflare([1]);
  const databases = [service.directory, service.databaseOf(1)] as [DatabaseSync, DatabaseSync];
  const env = bindingsOfShards(databases);
  const clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "0" } as Env);
  fillOrganization(databases[0], clinic.id, { rows: ROWS, hours: HOURS });
  const clients = startClients(clinic, env, 4);
  const args = ["--remote", "--yes", "--organization", String(clinic.id)];
  const output = await done(service.run("organizations_move", ...args, "--to", "1"));
  expectWhole(await clients.end(), databases[1], clinic.id);
  process.stdout.write(`Over D1's REST API: ${output}`);
  letMinutesPass(databases);
  const cleaned = await done(service.run("organizations_move", ...args, "--delete-old"));
  expect(cleaned).toContain("Deleted its old rows in shard 0.");
  expect(digestsOf(databases[0], clinic.id).calls?.count).toBe(0);
});
