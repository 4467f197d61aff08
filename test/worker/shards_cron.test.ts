import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import worker from "../../src/index.ts";
import { CRON_INTERVAL, LIVEKIT_CONNECTIONS, SHARDS_OF_RUN, SUBREQUESTS_OF_SHARD } from "../../src/limits.ts";
import { anOrganizationWith, BACKLOGS, leftOf } from "./support/backlogs.ts";
import { STARTED_AT } from "./support/calls.ts";
import { aLiveKit, KEY } from "./support/livekit_api.ts";
import { aMailProvider, MAIL_FROM } from "./support/mails.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { given, unique } from "./support/organization.ts";
import { aQueue } from "./support/queue.ts";
import { MINUTE, makeShards } from "./support/sharded_visits.ts";
import { aShardedService, isDown, type OnTrip, type ShardedService } from "./support/shards.ts";

const DATABASES = [env.DB, env.SPARE_1, env.SPARE_2];

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

const runCron = (bindings: object, scheduledTime = Date.now()) =>
  worker.scheduled(createScheduledController({ scheduledTime }), {
    ...env,
    BULK_INVITES: aQueue().binding,
    ...bindings,
  } as Env);

/** The lines `cron` of the log from here on. */
function loggedRuns() {
  const logged = vi.spyOn(console, "log");
  onTestFinished(() => logged.mockRestore());
  return () =>
    logged.mock.calls
      .map(([line]) => JSON.parse(String(line)))
      .filter(({ event }) => event === "cron") as Record<string, unknown>[];
}

/** The databases as an invocation has them: it may wait for six answers at a time, and what asks more waits for its turn. */
function throughSixConnections(on: OnTrip[] = []) {
  const waiting: (() => void)[] = [];
  const busy = DATABASES.map(() => 0);
  const most = DATABASES.map(() => 0);
  let free = 6;
  const [DB, DB_1, DB_2] = DATABASES.map((database, shard) =>
    observedDatabase(
      {
        async query(run) {
          if (free > 0) free--;
          else await new Promise<void>((go) => waiting.push(go));
          busy[shard] = (busy[shard] ?? 0) + 1;
          most[shard] = Math.max(most[shard] ?? 0, busy[shard] ?? 0);
          try {
            return await (on[shard]?.(run) ?? run());
          } finally {
            busy[shard] = (busy[shard] ?? 0) - 1;
            const next = waiting.shift();
            if (next) next();
            else free++;
          }
        },
      },
      database,
    ),
  );
  return { bindings: { DB, DB_1, DB_2 }, most };
}

const oldKeys = "from idempotency_keys where key = 'old'";

/** Makes a row that the cron deletes in an organization of each shard. */
async function addOldKeys(service: ShardedService) {
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
  const found = await Promise.all(DATABASES.map((database) => database.prepare(`select 1 ${oldKeys}`).all()));
  return found.flatMap(({ results }, shard) => (results.length > 0 ? [shard] : []));
};

describe("The cron of several databases", () => {
  it("works off the others while one hangs, though an invocation has six connections", async () => {
    await addOldKeys(aShardedService());
    const lines = loggedRuns();
    const hung = Promise.withResolvers<void>();
    const hanging: OnTrip = async (run) => {
      await hung.promise;
      return isDown(run);
    };
    const { bindings } = throughSixConnections([(run) => run(), hanging]);
    const cron = runCron(bindings);
    const others = expect.arrayContaining([0, 2]);
    await vi.waitFor(() => expect(lines().map(({ shard }) => shard)).toEqual(others), { timeout: MINUTE });
    expect(await databasesWithOldKeys()).toEqual([1]);
    expect(lines()).toHaveLength(2);
    hung.resolve();
    await cron;
    const failed = {
      requeueLostRows: "failed",
      deleteOldIdempotencyKeys: "failed",
      queueDueDeliveries: "failed",
    };
    expect(lines()[2]).toMatchObject({ shard: 1, ...failed });
    await runCron(throughSixConnections().bindings);
    expect(await databasesWithOldKeys()).toEqual([]);
  });

  it("works off a database before it asks another, which may hang", async () => {
    const service = aShardedService();
    await service.anOrganizationIn(2);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * MINUTE });
    await addOldKeys(service);
    const lines = loggedRuns();
    const hung = Promise.withResolvers<void>();
    const hanging: OnTrip = async (run) => {
      await hung.promise;
      return isDown(run);
    };
    const asItIs: OnTrip = (run) => run();
    // The directory has an organization to copy there.
    const { bindings } = throughSixConnections([asItIs, asItIs, hanging]);
    const cron = runCron(bindings);
    await vi.waitFor(async () => expect(await databasesWithOldKeys()).toEqual([2]), { timeout: MINUTE });
    hung.resolve();
    await cron;
    expect(lines()).toHaveLength(3);
    await runCron(throughSixConnections().bindings);
  });

  it("asks each for one thing at a time, and all of them at once", async () => {
    const { bindings, most } = throughSixConnections();
    await runCron(bindings);
    expect(most).toEqual([1, 1, 1]);
    const alone = throughSixConnections();
    await runCron({ DB: alone.bindings.DB });
    expect(alone.most).toEqual([6, 0, 0]);
  });

  it("goes on after a chore that fails, and says in the line of the database which it was", async () => {
    await addOldKeys(aShardedService());
    const lines = loggedRuns();
    const { bindings } = throughSixConnections();
    const DB_2 = observedDatabase(
      {
        prepare(text) {
          if (text.startsWith('delete from "authorization_codes"'))
            throw new Error("D1_ERROR: Network connection lost.");
        },
      },
      env.SPARE_2,
    );
    await runCron({ ...bindings, DB_2 });
    expect(await databasesWithOldKeys()).toEqual([]);
    const runs = lines().sort((a, b) => Number(a.shard) - Number(b.shard));
    const copying = { copyOrganizations: expect.any(Number), takeWaitingEgresses: expect.any(Number) };
    const common = {
      event: "cron",
      duration_ms: expect.any(Number),
      deleteOldIdempotencyKeys: expect.any(Number),
      ...copying,
    };
    expect(runs).toMatchObject([
      { ...common, shard: 0, deleteOldCodes: expect.any(Number) },
      { ...common, shard: 1, deleteOldCodes: expect.any(Number) },
      { ...common, shard: 2, deleteOldCodes: "failed" },
    ]);
    expect(runs).toHaveLength(3);
  });
});

describe("LiveKit", () => {
  /** Silent egresses of an organization in a shard. */
  async function addSilentEgresses(service: ShardedService, shard: number, size: number) {
    const organization = await service.anOrganizationIn(shard);
    const [room, owner] = [await organization.addRoom(), await organization.addProvider()];
    const call = { waiting_room_slug: room.slug, organization_user_id: owner.id, started_at: STARTED_AT };
    const { id } = await given(service.platform.put(`/calls/${unique("call")}`, { call }));
    await DATABASES[shard]
      ?.prepare(
        `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ?5)
         insert into egresses (organization_id, call_id, egress_id, status, is_stopped, check_at, created_at, updated_at)
         select ?1, ?2, ?3 || n, 'egress_active', 0, ?4, ?4, ?4 from counter`,
      )
      .bind(organization.id, id, unique("EG"), Date.now() - 11 * MINUTE, size)
      .run();
  }

  const noneSilent = async () => {
    for (const database of DATABASES) await database.prepare("update egresses set check_at = null").run();
  };

  it("is asked for all of them by no more connections than for one", async () => {
    await noneSilent();
    const service = aShardedService();
    for (const shard of [0, 1, 2]) await addSilentEgresses(service, shard, 10);
    const livekit = aLiveKit();
    livekit.answer = async (_, egress_id) => {
      await new Promise((answer) => setTimeout(answer, 5));
      return livekit.own(egress_id);
    };
    await livekit.runCron({ DB_1: env.SPARE_1, DB_2: env.SPARE_2 });
    expect(livekit.asked).toHaveLength(30);
    expect(livekit.busiest).toBeLessThanOrEqual(LIVEKIT_CONNECTIONS);
  });

  it("is asked about the egresses of each organization by turns, where there are more than a run can ask about", async () => {
    await noneSilent();
    const service = aShardedService();
    await addSilentEgresses(service, 0, 60);
    await addSilentEgresses(service, 0, 1);
    const livekit = aLiveKit();
    const others = Object.fromEntries(
      Array.from({ length: SHARDS_OF_RUN - 1 }, (_, n) => [`DB_${n + 1}`, env.SPARE_1]),
    );
    await livekit.runCron(others);
    expect(livekit.asked.length).toBeLessThan(60);
    const left = "select count(*) as n from egresses where check_at < ? group by organization_id";
    const { results } = await env.DB.prepare(left).bind(Date.now()).all();
    expect(results).toHaveLength(1);
    await noneSilent();
  });

  it("is asked for a database that answered late what there is to ask", async () => {
    await noneSilent();
    await addSilentEgresses(aShardedService(), 2, 5);
    const livekit = aLiveKit();
    let isSearch = false;
    const DB_2 = observedDatabase(
      {
        prepare(text) {
          isSearch ||= text.startsWith("select") && text.includes('"check_at" <=');
        },
        query(run) {
          if (isSearch && !vi.isFakeTimers())
            vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5 * MINUTE });
          return run();
        },
      },
      env.SPARE_2,
    );
    await livekit.runCron({ DB_1: env.SPARE_1, DB_2 });
    expect(vi.isFakeTimers()).toBe(true);
    expect(livekit.asked).toHaveLength(5);
  });
});

describe("Of ten databases, each can spend seventy subrequests in a run, and half of what is left for one chore, so that one", () => {
  /** The first is the one with organizations. */
  const bindings = Object.fromEntries(
    Array.from({ length: SHARDS_OF_RUN - 1 }, (_, n) => [`DB_${n + 1}`, env.SPARE_1]),
  );

  beforeEach(() => runCron({}));

  const aBacklog = async (name: string, size: number) => {
    const backlog = BACKLOGS.find((each) => each.name === name);
    if (!backlog) throw new Error(`There is no backlog for ${name}`);
    const organization = await anOrganizationWith(backlog, size);
    return { id: organization.id, left: () => leftOf(backlog, organization) };
  };

  it("has as many of its recordings deleted", async () => {
    const { left } = await aBacklog("deleteOldRecordings", 50);
    await runCron(bindings);
    expect(await left()).toBe(17);
    await runCron(bindings);
    expect(await left()).toBe(0);
  });

  it("finds the recordings of one organization among many that have none", async () => {
    const slug = unique("none");
    await env.DB.prepare(
      `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 40)
       insert into organizations (name, slug, recording_retention_days, created_at, updated_at)
       select 'Clinic', ?1 || '-' || n, 30, 1, 1 from counter`,
    )
      .bind(slug)
      .run();
    onTestFinished(async () => {
      await env.DB.prepare(
        "update organizations set recording_retention_days = null where slug like ? || '-%'",
      )
        .bind(slug)
        .run();
    });
    const { left } = await aBacklog("deleteOldRecordings", 10);
    await runCron(bindings);
    expect(await left()).toBe(0);
  });

  it("has 175 large bulk invites queued again, and then less for its recordings", async () => {
    const invites = await aBacklog("requeueLostRows", 250);
    await env.DB.prepare("update bulk_invites set total_count = 1000 where organization_id = ?")
      .bind(invites.id)
      .run();
    const recordings = await aBacklog("deleteOldRecordings", 50);
    const { id, admin } = await aShardedService().anOrganizationIn(0);
    await env.DB.prepare(
      `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 120)
       insert into webhook_endpoints
         (organization_id, url, secret, is_active, due_at, created_at, updated_at, created_by_user_id)
       select ?1, 'https://hooks.example.com/' || n, 'whsec_' || n, 1, 1, 1, 1, ?2 from counter`,
    )
      .bind(id, admin.user_id)
      .run();
    onTestFinished(async () => {
      await env.DB.prepare("delete from webhook_endpoints where organization_id = ?").bind(id).run();
    });
    /** How many messages for webhooks each send of the first database has. */
    const sends: number[] = [];
    const sendBatch = async (messages: { body: { shard?: number } }[]) => {
      if (messages.every(({ body }) => body.shard === undefined)) sends.push(messages.length);
    };
    await runCron({ ...bindings, WEBHOOKS: { sendBatch } });
    expect(await invites.left()).toBe(75);
    expect(await recordings.left()).toBe(34);
    expect(sends).toEqual([100, 20]);
    await runCron({ WEBHOOKS: { sendBatch } });
    expect(await invites.left()).toBe(0);
    expect(await recordings.left()).toBe(0);
    expect(sends.length).toBeGreaterThan(2);
  });
});

it("A hundred databases are worked off in ten runs, each of which takes a part of its subrequests to ask them all", async () => {
  let trips = 0;
  const counted = (database: D1Database) =>
    observedDatabase(
      {
        query(run) {
          trips++;
          return run();
        },
      },
      database,
    );
  const others = Array.from({ length: 99 }, (_, n) => [`DB_${n + 1}`, counted(env.SPARE_1)]);
  const provider = aMailProvider();
  const bindings = {
    ...KEY,
    LIVEKIT_URL: "https://livekit.example",
    MAIL_FROM,
    EMAIL: provider.binding,
    DB: counted(env.DB),
    ...Object.fromEntries(others),
  };
  // What other tests have left to do.
  await runCron({ ...bindings, DB: env.DB, DB_1: env.SPARE_1 });
  const start = Date.now();
  const runs = loggedRuns();
  for (let run = 0; run < 10; run++) {
    trips = 0;
    await runCron(bindings, start + run * CRON_INTERVAL);
    expect(trips).toBeGreaterThan(20 * SHARDS_OF_RUN);
    expect(trips).toBeLessThanOrEqual(SUBREQUESTS_OF_SHARD * SHARDS_OF_RUN);
  }
  const shards = runs().map(({ shard }) => Number(shard));
  expect(shards.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, shard) => shard));
});
