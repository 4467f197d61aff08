import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ENDED_AT } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anIdentityProvider } from "./support/identity_provider.ts";
import { aLiveKitRoom, anEgressId, delivered } from "./support/livekit.ts";
import { anInvite, given, unique } from "./support/organization.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { AUDIT_SIGNING_KEY } from "./support/seals.ts";
import {
  aRoomWithOwner,
  inTwoShards,
  letPass,
  MINUTE,
  makeShards,
  rowsIn,
} from "./support/sharded_visits.ts";
import { aShardedService, isDown, type OnTrip, type ShardedService } from "./support/shards.ts";
import { expectExchanged } from "./support/sign_in.ts";

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

describe("An organization in a shard", () => {
  it("is made in the newest one unless the operator names another, and never elsewhere", async () => {
    const service = aShardedService();
    const newest = await given(
      service.platform.post("/organizations", { organization: { name: "Clinic", slug: unique("org") } }),
    );
    const first = await service.anOrganizationIn(0);
    const inShard = (database: D1Database, id: number) =>
      rowsIn(database, "select id, shard from organizations where id = ?", id);
    expect(await inShard(env.DB, newest.id)).toEqual([{ id: newest.id, shard: 2 }]);
    expect(await inShard(env.SPARE_2, newest.id)).toEqual([{ id: newest.id, shard: 2 }]);
    expect(await inShard(env.SPARE_1, newest.id)).toEqual([]);
    expect(await inShard(env.SPARE_2, first.id)).toEqual([]);
    const { pagination } = await given(service.platform.get("/organizations?per_page=2"));
    const last = `/organizations?per_page=2&page=${pagination.total_pages}`;
    const { organizations } = await given(service.platform.get(last));
    expect(organizations.map(({ id }: { id: number }) => id)).toContain(first.id);
  });

  it("has ids that no other database gives", async () => {
    const [one, other] = await inTwoShards(aShardedService());
    expect(Math.floor(one.room.id / 2 ** 32)).toBe(1);
    expect(Math.floor(other.room.id / 2 ** 32)).toBe(2);
  });

  it("serves its clients and redeems their codes while the directory is down", async () => {
    const service = aShardedService();
    const { organization } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const provider = await anIdentityProvider();
    const { jwks_url } = provider;
    const issuer = { issuer: provider.issuer, audience: "video-visits", jwks_url };
    await given(service.platform.post(`/organizations/${organization.id}/issuers`, { issuer }));
    await service.during(0, isDown, async () => {
      await given(organization.client.get("/waiting_rooms"));
      const code = await expectExchanged(
        organization.client,
        await provider.token({ email: organization.admin.email }),
      );
      const redeemed = await given(service.platform.post("/authorization_codes/redeem", { code }));
      expect(redeemed.organization.id).toBe(organization.id);
    });
  });

  it("costs its clients the same round trips, all to its own database", async () => {
    const service = aShardedService();
    const { client } = await service.anOrganizationIn(1);
    expect(await service.tripsOf(() => given(client.get("/waiting_rooms")))).toEqual([0, 2, 0]);
    expect(await service.tripsOf(() => given(client.get("/waiting_rooms")))).toEqual([0, 1, 0]);
  });

  it("is unknown to an id of a client that names a shard which is not bound, and no database is asked", async () => {
    const service = aShardedService();
    const { client } = await service.anOrganizationIn(1);
    const id = client.credentials["X-Client-ID"] as string;
    expect(id).toMatch(/^[\w-]{22}$/);
    const elsewhere = { ...client.credentials, "X-Client-ID": `AAM${id.slice(3)}` };
    const trips = await service.tripsOf(async () =>
      expectRefusal(await client.send("GET", "/waiting_rooms", undefined, elsewhere), 401),
    );
    expect(trips).toEqual([0, 0, 0]);
  });

  it("gives bookmarks that its own shard takes and others ignore", async () => {
    const service = aShardedService();
    const [one, other] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const made = await one.client.post("/waiting_rooms", { waiting_room: { name: "A", is_active: true } });
    const bookmark = made.headers.get("X-D1-Bookmark") ?? "";
    expect(bookmark).toMatch(/\.1$/);
    for (const { client } of [one, other])
      await given(client.send("GET", "/waiting_rooms", undefined, { "X-D1-Bookmark": bookmark }));
  });
});

describe("A request of the platform", () => {
  it("costs one round trip more where it names what the isolate has not placed for a minute", async () => {
    const service = aShardedService();
    const { organization, room } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const { id } = organization;
    letPass(2 * MINUTE);
    const ask = () => given(service.platform.get(`/organizations/${id}`));
    const askRoom = () => given(service.platform.get(`/waiting_rooms/${room.slug}`));
    expect([await service.tripsOf(ask), await service.tripsOf(ask)]).toEqual([
      [1, 1, 0],
      [0, 1, 0],
    ]);
    expect([await service.tripsOf(askRoom), await service.tripsOf(askRoom)]).toEqual([
      [1, 1, 0],
      [0, 1, 0],
    ]);
    letPass(MINUTE);
    expect(await service.tripsOf(ask)).toEqual([1, 1, 0]);
  });

  it("costs one round trip more where it brings a new key", async () => {
    const service = aShardedService();
    const { call } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const [key, egress_id] = [unique("call"), unique("egress")];
    const report = () => given(service.platform.put(`/calls/${key}`, { call }));
    // And one to see whether an egress of LiveKit's waits for the new call.
    expect([await service.tripsOf(report), await service.tripsOf(report)]).toEqual([
      [2, 2, 0],
      [0, 1, 0],
    ]);
    const record = (egress: object) => () =>
      given(service.platform.put(`/egresses/${egress_id}`, { egress: { call_key: key, ...egress } }));
    expect(await service.tripsOf(record({ status: "egress_starting" }))).toEqual([1, 2, 0]);
    expect(await service.tripsOf(record({ status: "egress_active" }))).toEqual([0, 2, 0]);
    const storage_key = `${egress_id}.wav`;
    expect(await service.tripsOf(record({ status: "egress_ended", storage_key }))).toEqual([1, 2, 0]);
  });

  it("costs at most two more where a person is made", async () => {
    const service = aShardedService();
    const organization = await service.anOrganizationIn(1);
    const user = { email: `${unique("new")}@example.com`, display_name: "Nina New", roles: ["provider"] };
    const trips = await service.tripsOf(() =>
      given(service.platform.post(`/organizations/${organization.id}/users`, { user })),
    );
    expect(trips).toEqual([1, 2, 0]);
  });

  it("costs nothing more for an organization of the first database", async () => {
    const service = aShardedService();
    const { call, organization } = await aRoomWithOwner(await service.anOrganizationIn(0));
    const key = unique("call");
    const user = { email: `${unique("new")}@example.com`, display_name: "Nina New", roles: ["provider"] };
    const { platform } = service;
    expect(await service.tripsOf(() => given(platform.put(`/calls/${key}`, { call })))).toEqual([2, 0, 0]);
    expect(await service.tripsOf(() => given(platform.get(`/calls/${key}`)))).toEqual([1, 0, 0]);
    const create = () => given(platform.post(`/organizations/${organization.id}/users`, { user }));
    expect(await service.tripsOf(create)).toEqual([2, 0, 0]);
  });

  it("finds by an id what belongs to any organization, and 404 for what does not exist", async () => {
    const service = aShardedService();
    for (const shard of [0, 1, 2]) {
      const { id, client } = await service.anOrganizationIn(shard);
      const invite = await given(client.post("/invites", { organization_invite: anInvite() }));
      expect(await given(service.platform.get(`/invites/${invite.id}`))).toMatchObject({
        organization_id: id,
      });
      await given(service.platform.delete(`/api_clients/${client.id}`));
      expectRefusal(await service.platform.delete(`/api_clients/${client.id}`), 404);
    }
    expectRefusal(await service.platform.get("/invites/999999"), 404);
    expectRefusal(await service.platform.get(`/invites/${7 * 2 ** 32}`), 404);
    expectRefusal(await service.platform.get("/organizations/999999"), 404);
  });
});

describe("A person", () => {
  it("has one account in organizations of several shards, and accepts an invite in one of them", async () => {
    const service = aShardedService();
    const email = `${unique("person")}@example.com`;
    const user = { email, display_name: "Pia Person", roles: ["provider"] };
    const users = [];
    for (const shard of [1, 0, 2]) {
      const { id } = await service.anOrganizationIn(shard);
      users.push(await given(service.platform.post(`/organizations/${id}/users`, { user })));
    }
    const { client } = await service.anOrganizationIn(1);
    const invite = await given(client.post("/invites", { organization_invite: anInvite({ email }) }));
    const { accept_url } = await given(service.platform.get(`/invites/${invite.id}`));
    const token = new URL(accept_url).searchParams.get("token");
    users.push(await given(service.platform.post("/invites/accept", { token })));
    expect(new Set(users.map(({ user_id }) => user_id)).size).toBe(1);
    expect(new Set(users.map(({ id }) => id)).size).toBe(4);
  });
});

function anOrganizationToMake(service: ShardedService) {
  const organization = { name: "Clinic", slug: unique("org") };
  return { ...organization, create: () => service.platform.post("/organizations", { organization }) };
}

const answerLost: OnTrip = async (run) => {
  await run();
  return isDown(run);
};

describe("Where the second of two databases fails,", () => {
  it("a new organization is taken back, and can be made again at once", async () => {
    const service = aShardedService();
    const organization = { name: "Clinic", slug: unique("org") };
    const create = () => service.platform.post("/organizations", { organization });
    expectRefusal(await service.during(2, isDown, create), 503);
    expect(await rowsIn(env.DB, "select 1 from organizations where slug = ?", organization.slug)).toEqual([]);
    await given(create());
  });

  it("a new organization that was copied, but whose answer was lost, leaves its slug free", async () => {
    const service = aShardedService();
    const { slug, create } = anOrganizationToMake(service);
    expectRefusal(await service.during(2, answerLost, create), 503);
    const { id } = await given(create());
    expect(await rowsIn(env.SPARE_2, "select id from organizations where slug = ?", slug)).toEqual([{ id }]);
  });

  it("a new organization that was taken back leaves its slug free, also when its day was sealed", async () => {
    const service = aShardedService({ AUDIT_SIGNING_KEY });
    const { create } = anOrganizationToMake(service);
    expectRefusal(await service.during(2, answerLost, create), 503);
    letPass(3 * 24 * 60 * MINUTE);
    await service.runCron();
    const { id } = await given(create());
    await given(service.platform.get(`/organizations/${id}`));
  });

  it("a copy of a new organization that was taken back, which comes late, leaves the next of its slug alone", async () => {
    const service = aShardedService();
    const { create } = anOrganizationToMake(service);
    let copy = async (): Promise<unknown> => undefined;
    const late: OnTrip = (run) => {
      copy = run;
      return isDown(run);
    };
    expectRefusal(await service.during(2, late, create), 503);
    const { id } = await given(create());
    await copy();
    await given(service.platform.get(`/organizations/${id}`));
  });

  it("the cron copies a new organization that could not be taken back either", async () => {
    const service = aShardedService();
    const organization = { name: "Clinic", slug: unique("org") };
    let trip = 0;
    service.on[0] = (run) => (++trip > 2 ? isDown(run) : run());
    await service.during(2, isDown, async () =>
      expectRefusal(await service.platform.post("/organizations", { organization }), 503),
    );
    service.on[0] = (run) => run();
    letPass(2 * MINUTE);
    await service.runCron();
    const [made] = await rowsIn(
      env.SPARE_2,
      "select id from organizations where slug = ?",
      organization.slug,
    );
    expect(await given(service.platform.get(`/organizations/${made?.id}`))).toMatchObject(organization);
    expect(
      await rowsIn(env.DB, "select * from organization_outbox where organization_id = ?", made?.id),
    ).toEqual([]);
  });

  it("the cron copies what a changed organization is to the directory", async () => {
    const service = aShardedService();
    const { id } = await service.anOrganizationIn(1);
    const inDirectory = () => rowsIn(env.DB, "select name from organizations where id = ?", id);
    await given(service.platform.get(`/organizations/${id}`));
    const rename = (name: string) =>
      given(service.platform.put(`/organizations/${id}`, { organization: { name } }));
    await rename("Renamed");
    expect(await inDirectory()).toEqual([{ name: "Renamed" }]);
    await service.during(0, isDown, () => rename("Renamed again"));
    expect(await inDirectory()).toEqual([{ name: "Renamed" }]);
    letPass(2 * MINUTE);
    await service.runCron();
    expect(await inDirectory()).toEqual([{ name: "Renamed again" }]);
    expect(await rowsIn(env.SPARE_1, "select * from organization_outbox")).toEqual([]);
  });

  it("a person is no user of the organization, and becomes one with the same account by the next request", async () => {
    const service = aShardedService();
    const { id } = await service.anOrganizationIn(1);
    const email = `${unique("person")}@example.com`;
    const user = { email, display_name: "Pia Person", roles: ["provider"] };
    const create = () => service.platform.post(`/organizations/${id}/users`, { user });
    let trip = 0;
    const secondFails: OnTrip = (run) => (++trip > 1 ? isDown(run) : run());
    expectRefusal(await service.during(1, secondFails, create), 503);
    const [known] = await rowsIn(env.DB, "select id from users where email = ?", email);
    expect(known).toBeDefined();
    expect(await rowsIn(env.SPARE_1, "select id from users where email = ?", email)).toEqual([]);
    expect(await given(create())).toMatchObject({ user_id: known?.id });
  });

  it("an egress that was taken to its call, and still waits, is taken again without a change", async () => {
    const service = aShardedService();
    const organization = await service.anOrganizationIn(1);
    const room = await aLiveKitRoom(organization);
    const egress_id = anEgressId();
    await delivered([room.recorded(egress_id, 60)], service.liveKit);
    const waiting = () => rowsIn(env.DB, "select 1 from livekit_egresses where egress_id = ?", egress_id);
    expect(await waiting()).toHaveLength(1);
    let trip = 0;
    // The call is placed, what waits for it is found, and the egress placed; then it is to be deleted.
    const fourthFails: OnTrip = (run) => (++trip > 3 ? isDown(run) : run());
    await service.during(0, fourthFails, () =>
      delivered([room.started(), room.finished(90)], service.liveKit),
    );
    const audit = () =>
      rowsIn(
        env.SPARE_1,
        "select event from egress_audit_logs where egress_id = (select id from egresses where egress_id = ?)",
        egress_id,
      );
    const before = await audit();
    expect(before).toHaveLength(1);
    expect(await waiting()).toHaveLength(1);
    await service.runCron();
    expect(await waiting()).toEqual([]);
    expect(await audit()).toEqual(before);
  });
});

describe("While a shard is down,", () => {
  it("its organizations get 503, and those of the others notice nothing", async () => {
    const service = aShardedService();
    const [down, up] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const first = await service.anOrganizationIn(0);
    await service.during(1, isDown, async () => {
      for (const answer of [
        await down.client.get("/waiting_rooms"),
        await service.platform.get(`/organizations/${down.id}/users`),
      ]) {
        expectRefusal(answer, 503);
        expect(answer.headers.get("Retry-After")).toBe("5");
      }
      for (const each of [up, first]) {
        await given(each.client.get("/waiting_rooms"));
        await given(service.platform.get(`/organizations/${each.id}/users`));
      }
      expect((await service.platform.get("/organizations")).status).toBe(200);
    });
  });

  it("/health names it", async () => {
    const service = aShardedService();
    const ask = async () => service.fetcher(new Request("https://service.test/health"));
    const answer = await service.during(2, isDown, ask);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("shard 2");
  });

  it("or answers late, the others are served, and the cron works off the others, before it answers", async () => {
    const service = aShardedService();
    const [slow, other] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const old = "insert into idempotency_keys (organization_id, api_client_id, key, fingerprint, created_at)";
    await env.SPARE_2.prepare(`${old} values (?, ?, 'old', '', 1)`).bind(other.id, other.client.id).run();
    const release = Promise.withResolvers<void>();
    const late: OnTrip = async (run) => {
      await release.promise;
      return run();
    };
    await service.during(1, late, async () => {
      let hasAnswered = false;
      const waiting = slow.client.get("/waiting_rooms").then((answer) => {
        hasAnswered = true;
        return answer;
      });
      const cron = service.runCron();
      await given(other.client.get("/waiting_rooms"));
      await given(service.platform.get(`/organizations/${other.id}`));
      await vi.waitFor(async () =>
        expect(await rowsIn(env.SPARE_2, "select 1 from idempotency_keys where key = 'old'")).toEqual([]),
      );
      expect(hasAnswered).toBe(false);
      release.resolve();
      await given(waiting);
      await cron;
    });
  });

  it("the cron goes on with the others", async () => {
    const service = aShardedService();
    const one = await service.anOrganizationIn(1);
    const endpoint = { webhook_endpoint: { url: `https://${unique("hooks")}.example.com` } };
    await given(one.client.post("/webhook_endpoints", endpoint));
    const old = "insert into idempotency_keys (organization_id, api_client_id, key, fingerprint, created_at)";
    await env.SPARE_1.prepare(`${old} values (?, ?, 'old', '', 1)`).bind(one.id, one.client.id).run();
    await service.during(0, isDown, () => service.during(2, isDown, service.runCron));
    expect(await rowsIn(env.SPARE_1, "select 1 from idempotency_keys where key = 'old'")).toEqual([]);
  });
});

describe("A message of a queue", () => {
  it("carries the shard, in which it is worked off", async () => {
    const queue = aQueue();
    const bindings = {
      DB_1: env.SPARE_1,
      DB_2: env.SPARE_2,
      NEW_ORGANIZATIONS_SHARD: "1",
      BULK_INVITES: queue.binding,
    };
    const theWorker = workerWith(bindings);
    const { anOrganizationIn } = aShardedService();
    const { client } = await anOrganizationIn(1);
    const through = client.through(theWorker.fetcher);
    const { bulk_invite } = await given(
      through.post("/invites/bulk_create", { organization_invites: [anInvite(), anInvite()] }),
    );
    const messages = queue.take(bulk_invite);
    expect(messages.map(({ body }) => body)).toMatchObject([{ shard: 1, bulk_invite_id: bulk_invite.id }]);
    expect((await theWorker.consume(messages)).acked).toHaveLength(1);
    const { bulk_invite: done } = await given(through.get(`/bulk_invites/${bulk_invite.id}`));
    expect(done).toMatchObject({ status: "completed", created_count: 2 });
  });
});

describe("A database that has no range of ids", () => {
  it("takes no organization, and /health names it", async () => {
    const { value } =
      (await rowsIn(env.SPARE_2, "select value from database_settings where name = 'range'"))[0] ?? {};
    await env.SPARE_2.prepare("delete from database_settings where name = 'range'").run();
    try {
      const service = aShardedService();
      const organization = { name: "Clinic", slug: unique("org") };
      expectRefusal(await service.platform.post("/organizations", { organization }), 500);
      const answer = await service.fetcher(new Request("https://service.test/health"));
      expect(answer.status).toBe(503);
      expect(await answer.text()).toContain("shard 2");
    } finally {
      await env.SPARE_2.prepare("insert into database_settings (name, value) values ('range', ?)")
        .bind(value)
        .run();
    }
  });

  it("gives no ids to users: they are the directory's", async () => {
    const insert = "insert into users (email, created_at, updated_at) values (?, 1, 1)";
    const insertInto = (database: D1Database) =>
      database
        .prepare(insert)
        .bind(`${unique("user")}@example.com`)
        .run();
    await expect(insertInto(env.SPARE_1)).rejects.toThrow("the directory gives users their ids");
    await insertInto(env.DB);
  });
});

describe("A visit in a shard", () => {
  it("can be read, recorded and deleted like any other", async () => {
    const service = aShardedService();
    const organization = await service.anOrganizationIn(1);
    const { call: report } = await aRoomWithOwner(organization);
    const key = unique("call");
    const { platform } = service;
    await given(platform.put(`/calls/${key}`, { call: { ...report, ended_at: ENDED_AT } }));
    await given(platform.put(`/calls/${key}/soap_note`, { soap_note: { text: "Well.", is_final: true } }));
    expectRefusal(await platform.get(`/calls/${unique("call")}`), 404);
    await given(platform.delete(`/calls/${key}/soap_note`));
  });
});
