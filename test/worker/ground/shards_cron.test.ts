import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import worker from "../../../src/index.ts";
import { runCronOf } from "../support/cron.ts";
import { hanging, observedDatabase } from "../support/observed_database.ts";
import { aQueue } from "../support/queue.ts";
import { MINUTE, makeShards } from "../support/sharded_visits.ts";
import { aShardedService, isDown, type OnTrip } from "../support/shards.ts";

const DATABASES = [env.DB, env.SPARE_1, env.SPARE_2];

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

const bound = (bindings: object = {}) =>
  ({
    ...env,
    DB_1: env.SPARE_1,
    DB_2: env.SPARE_2,
    BULK_INVITES: aQueue().binding,
    ...bindings,
  }) as unknown as Env;

function loggedRuns() {
  const logged = vi.spyOn(console, "log");
  onTestFinished(() => logged.mockRestore());
  return () =>
    logged.mock.calls
      .map(([line]) => JSON.parse(String(line)))
      .filter(({ event }) => event === "cron") as Record<string, unknown>[];
}

const OLD_KEY = "from idempotency_keys where key = 'old'";

/** Inserts a row that the cron deletes, in an organization of each shard. */
async function addOldKeys() {
  const service = aShardedService();
  for (const [shard, database] of DATABASES.entries()) {
    const { id, client } = await service.anOrganizationIn(shard);
    await database
      .prepare(
        "insert into idempotency_keys (organization_id, api_client_id, key, fingerprint, created_at) values (?, ?, 'old', '', 1)",
      )
      .bind(id, client.id)
      .run();
  }
}

const databasesWithOldKeys = async () => {
  const found = await Promise.all(DATABASES.map((database) => database.prepare(`select 1 ${OLD_KEY}`).all()));
  return found.flatMap(({ results }, shard) => (results.length > 0 ? [shard] : []));
};

describe("The cron with several databases", () => {
  it("sends a message for each database, with the time of the run, and does no chores itself", async () => {
    await addOldKeys();
    const scheduled = Date.now();
    const sent: unknown[] = [];
    await runCronOf(bound(), scheduled, async (messages) => sent.push(...messages.map(({ body }) => body)));
    expect(sent).toEqual(
      [0, 1, 2].map((shard) => ({ schema: "chores/1", scheduled_time: scheduled, shard })),
    );
    expect(await databasesWithOldKeys()).toEqual([0, 1, 2]);
    await runCronOf(bound());
    expect(await databasesWithOldKeys()).toEqual([]);
  });

  it("does the chores of a single database at once", async () => {
    await addOldKeys();
    const { DB_1, DB_2, ...alone } = bound() as Env & Record<string, unknown>;
    expect([DB_1, DB_2]).not.toContain(undefined);
    await runCronOf(alone as Env, Date.now(), async (messages) => expect(messages).toEqual([]));
    expect(await databasesWithOldKeys()).toEqual([1, 2]);
    await runCronOf(bound());
  });

  it("serves the other databases while one hangs, and logs the fault of that one", async () => {
    await addOldKeys();
    const lines = loggedRuns();
    const faults = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => faults.mockRestore());
    const hung = hanging();
    const query: OnTrip = (run) => hung.onTrip(() => isDown(run));
    const cron = runCronOf(bound({ DB_1: observedDatabase({ query }, env.SPARE_1) }));
    const others = expect.arrayContaining([0, 2]);
    await vi.waitFor(() => expect(lines().map(({ shard }) => shard)).toEqual(others), { timeout: MINUTE });
    expect(await databasesWithOldKeys()).toEqual([1]);
    hung.release();
    await cron;
    expect(lines()).toHaveLength(2);
    expect(faults.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { event: "fault", message_id: expect.any(String) },
    ]);
    await runCronOf(bound());
    expect(await databasesWithOldKeys()).toEqual([]);
  });

  it("drops a message that comes a day late, since newer ones have come and its times would be past", async () => {
    await addOldKeys();
    await runCronOf(bound(), Date.now() - 24 * 60 * MINUTE);
    expect(await databasesWithOldKeys()).toEqual([0, 1, 2]);
    await runCronOf(bound(), Date.now() - MINUTE);
    expect(await databasesWithOldKeys()).toEqual([]);
  });

  it("sends messages for 150 databases in two portions, at no other cost", async () => {
    const others = Array.from({ length: 149 }, (_, n) => [`DB_${n + 1}`, env.SPARE_1]);
    const sends: number[] = [];
    const CHORES = { sendBatch: async (messages: unknown[]) => void sends.push(messages.length) };
    await worker.scheduled(createScheduledController(), {
      ...bound(Object.fromEntries(others)),
      CHORES,
    } as unknown as Env);
    expect(sends).toEqual([100, 50]);
  });
});
