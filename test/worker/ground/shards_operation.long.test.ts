import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { DATABASE_TIMEOUT, HEALTH_KNOWN_FOR } from "../../../src/tuning.ts";
import { aSlowDatabase, hanging, observedDatabase } from "../support/observed_database.ts";
import { anInvite, given, unique } from "../support/organization.ts";
import { makeShards } from "../support/sharded_visits.ts";
import { aShardedService, isDown, type OnTrip, type ShardedService } from "../support/shards.ts";
import { throughWorkerWith } from "../support/worker.ts";

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

function firstFails(): OnTrip {
  let trip = 0;
  return (run) => (++trip === 1 ? isDown(run) : run());
}

async function invitesIn(service: ShardedService, shards: number[]): Promise<number[]> {
  const ids: number[] = [];
  for (const shard of shards) {
    const { client } = await service.anOrganizationIn(shard);
    const { id } = await given(client.post("/invites", { organization_invite: anInvite() }));
    ids.push(id);
  }
  return ids;
}

const idsOf = (page: { organization_invites: { id: number }[] }) =>
  page.organization_invites.map(({ id }) => id);

it("If a replica fails, its own primary is asked, even if the request has gone on to other shards", async () => {
  const service = aShardedService();
  const [first = 0, second = 0] = await invitesIn(service, [0, 2]);
  const { id } = await service.anOrganizationIn(0);
  const answered = await service.platform.get(`/organizations/${id}`);
  const bookmark = answered.headers.get("X-D1-Bookmark") ?? "";
  const answer = await service.during(0, firstFails(), () =>
    service.platform.send("GET", `/invites?status=active&after=${first - 1}`, undefined, {
      "X-D1-Bookmark": bookmark,
    }),
  );
  const ids = idsOf(answer.body);
  expect(ids).toContain(first);
  expect(ids.filter((id) => id === second)).toHaveLength(1);
});

describe("Database bindings", () => {
  const [one, two] = [env.SPARE_1, env.SPARE_2];

  it.each([
    ["mixed up", { DB_1: two, DB_2: one }, ": shard 1, shard 2"],
    ["of one database twice", { DB_1: one, DB_2: one }, ": shard 2"],
    ["of a shard as the first database", { DB: one, DB_1: one, DB_2: two }, "shard 0"],
    ["that lack a database with organizations", { DB_2: undefined }, ": shard 2"],
  ])("%s make GET /health return 503 and name the shards", async (_, bindings, named) => {
    const service = aShardedService();
    await service.anOrganizationIn(2);
    const bound = new Map<string, D1Database | undefined>([
      ...Object.entries({ DB: env.DB, DB_1: one, DB_2: two }),
      ...Object.entries(bindings),
    ]);
    // New objects, since an isolate remembers how a database was. A lost binding has no name either.
    const entries = [...bound].flatMap(([name, database]) =>
      database ? [[name, observedDatabase({}, database)]] : [],
    );
    const fetcher = throughWorkerWith(Object.fromEntries(entries));
    const answer = await fetcher(new Request("https://service.test/health"));
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain(named);
  });

  it("that lack a database without organizations do no harm, since the next deployment binds it", async () => {
    await env.DB.prepare("insert into shards (shard, range) values (900, 900)").run();
    try {
      const answer = await aShardedService().fetcher(new Request("https://service.test/health"));
      expect(answer.status).toBe(200);
    } finally {
      await env.DB.prepare("delete from shards where shard = 900").run();
    }
  });

  it("that are mixed up put no organization into the wrong database", async () => {
    const service = aShardedService({ DB_1: two, DB_2: one });
    const slug = unique("org");
    const answer = await service.platform.post("/organizations", { organization: { name: "Clinic", slug } });
    expect(answer.status).toBe(500);
    for (const database of [env.DB, one, two]) {
      const { results } = await database
        .prepare("select 1 from organizations where slug = ?")
        .bind(slug)
        .all();
      expect(results).toEqual([]);
    }
  });
});

describe("The platform's GET /invites", () => {
  const list = (service: ShardedService, query: string) => given(service.platform.get(`/invites?${query}`));

  /** Reads pages until nothing new comes. */
  async function readOn(service: ShardedService, from: number | string, per_page = 100) {
    const ids: number[] = [];
    for (let after = from; ; ) {
      const page = await list(service, `after=${after}&per_page=${per_page}`);
      ids.push(...idsOf(page));
      if (page.next_after === after) return { ids, after };
      after = page.next_after;
    }
  }

  it("lists each invite of each shard once, even if it is created while the list is read", async () => {
    const service = aShardedService();
    const { after } = await readOn(service, 0);
    const first = await invitesIn(service, [0, 1, 2, 0, 1, 2]);
    const page = await list(service, `after=${after}&per_page=4`);
    const second = await invitesIn(service, [2, 1, 0]);
    const rest = await readOn(service, page.next_after, 2);
    const shown = [...idsOf(page), ...rest.ids];
    expect(shown).toHaveLength(9);
    expect(new Set(shown)).toEqual(new Set([...first, ...second]));
  });

  it("leaves out the invites of a shard that does not answer, and lists them when it does", async () => {
    const service = aShardedService();
    const { after } = await readOn(service, 0);
    const [first, slow, other] = await invitesIn(service, [0, 1, 2]);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const hung = hanging();
    const page = service.during(1, hung.onTrip, () => list(service, `after=${after}`));
    await hung.asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT);
    const shown = await page;
    hung.release();
    vi.useRealTimers();
    expect(idsOf(shown)).toEqual([first, other]);
    expect((await readOn(service, shown.next_after)).ids).toEqual([slow]);
  });

  it("returns 503 if no database answers", async () => {
    const service = aShardedService();
    const hung = hanging();
    service.on.fill(hung.onTrip);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const answer = service.platform.get("/invites");
    await hung.asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT);
    expect((await answer).status).toBe(503);
    hung.release();
  });
});

it("The platform's GET /organizations returns 503 if one of the databases does not answer in time", async () => {
  const service = aShardedService();
  await service.anOrganizationIn(1);
  // A page past the end, to get the total, since other tests leave places without a row.
  const { pagination } = await given(service.platform.get("/organizations?per_page=100&page=100"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const hung = hanging();
  await service.during(1, hung.onTrip, async () => {
    const answer = service.platform.get(`/organizations?per_page=1&page=${pagination.total_count}`);
    await hung.asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT);
    expect((await answer).status).toBe(503);
    hung.release();
  });
});

describe("A database that is slow to answer GET /health", () => {
  const ask = (bindings: object) =>
    throughWorkerWith({ DB_1: env.SPARE_1, DB_2: env.SPARE_2, ...bindings })(
      new Request("https://service.test/health"),
    );

  it("counts as down, and is named", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { DB, asked, release } = aSlowDatabase();
    const answer = ask({ DB });
    await asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT);
    release();
    expect(await (await answer).text()).toContain("shard 0");
    expect((await answer).status).toBe(503);
  });

  it("is asked once for simultaneous requests, and then not again for a while", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const hung = hanging();
    let questions = 0;
    const DB_1 = observedDatabase(
      {
        query(run) {
          questions++;
          return hung.onTrip(run);
        },
      },
      env.SPARE_1,
    );
    const answers = Promise.all(Array.from({ length: 20 }, () => ask({ DB_1 })));
    await hung.asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT + 100);
    expect((await answers).map(({ status }) => status)).toEqual(Array(20).fill(503));
    await vi.advanceTimersByTimeAsync(HEALTH_KNOWN_FOR - 1000);
    expect((await ask({ DB_1 })).status).toBe(503);
    expect(questions).toBe(1);
    hung.release();
  });
});
