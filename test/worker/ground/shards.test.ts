import { env } from "cloudflare:workers";
import { SignJWT } from "jose";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { expectRefusal } from "../support/expectations.ts";
import { anIdentityProvider } from "../support/identity_provider.ts";
import { aLiveKitRoom, anEgressId } from "../support/livekit.ts";
import { given, unique } from "../support/organization.ts";
import {
  aRoomWithOwner,
  inTwoShards,
  letPass,
  MINUTE,
  makeShards,
  rowsIn,
} from "../support/sharded_visits.ts";
import { aShardedService, isDown, type OnTrip, type ShardedService } from "../support/shards.ts";
import { expectExchanged } from "../support/sign_in.ts";

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

describe("An organization in a shard", () => {
  it("has ids that no other database assigns", async () => {
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
    // Includes the day of the client's last use, which is written in the background.
    expect(await service.tripsOf(() => given(client.get("/waiting_rooms")))).toEqual([0, 3, 0]);
    expect(await service.tripsOf(() => given(client.get("/waiting_rooms")))).toEqual([0, 1, 0]);
  });

  it("returns 500 instead of 404 while its database is not bound", async () => {
    const service = aShardedService();
    const organization = await service.anOrganizationIn(1);
    const { room, call } = await aRoomWithOwner(organization);
    const unbound = aShardedService({ DB_1: undefined });
    const path = `/organizations/${organization.id}/calls/${unique("call")}`;
    for (const refused of [
      await unbound.platform.put(path, { call }),
      await unbound.platform.get(`/waiting_rooms/${room.slug}`),
      await unbound.liveKit.send((await aLiveKitRoom(organization)).recorded(anEgressId(), 60)),
    ])
      expectRefusal(refused, 500);
  });

  it("is not looked up for made-up clients, codes and invite links, so no database is asked", async () => {
    const service = aShardedService();
    const { client } = await service.anOrganizationIn(1);
    const id = client.credentials["X-Client-ID"] as string;
    expect(id).toMatch(/^[\w-]{22}$/);
    const elsewhere = { ...client.credentials, "X-Client-ID": `AAM${id.slice(3)}` };
    const link = await new SignJWT({ sub: "1", organization_id: 777, created_at: 1 })
      .setProtectedHeader({ alg: "HS256", typ: "invite+jwt" })
      .sign(new TextEncoder().encode("another secret"));
    const ofNoShard = `AAM${"A".repeat(39)}B`;
    const trips = await service.tripsOf(async () => {
      expectRefusal(await client.send("GET", "/waiting_rooms", undefined, elsewhere), 401);
      expectRefusal(await service.platform.post("/invites/accept", { token: link }), 404);
      expectRefusal(await service.platform.post("/authorization_codes/redeem", { code: ofNoShard }), 401);
    });
    expect(trips).toEqual([0, 0, 0]);
  });

  it("returns bookmarks that its own shard uses and other shards ignore", async () => {
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
  it("asks the directory for an organization once a minute, in a trip of its own, however it is named", async () => {
    const service = aShardedService();
    const { organization, room, call } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const platform = service.platform.under(`/organizations/${organization.id}`);
    const requests = [
      () => service.platform.get(`/organizations/${organization.id}`),
      () => service.platform.get(`/waiting_rooms/${room.slug}`),
      () => platform.put(`/calls/${unique("call")}`, { call }),
      () => platform.get("/users"),
    ];
    for (const first of requests) {
      letPass(2 * MINUTE);
      expect((await service.tripsOf(() => given(first())))[0]).toBe(1);
      for (const next of requests) expect((await service.tripsOf(() => given(next())))[0]).toBe(0);
    }
  });

  it("costs as much in its own database as with a single database", async () => {
    const service = aShardedService();
    for (const shard of [0, 1]) {
      const { call, organization } = await aRoomWithOwner(await service.anOrganizationIn(shard));
      const platform = service.platform.under(`/organizations/${organization.id}`);
      const [key, egress_id] = [unique("call"), unique("egress")];
      const user = { email: `${unique("new")}@example.com`, display_name: "Nina New", roles: ["provider"] };
      const egress = { call_key: key, status: "egress_ended", storage_key: `${organization.slug}/a.wav` };
      await given(platform.get("/users"));
      for (const [costs, request] of [
        [2, () => platform.put(`/calls/${key}`, { call })],
        [1, () => platform.put(`/calls/${key}`, { call })],
        [1, () => platform.get(`/calls/${key}`)],
        [2, () => platform.put(`/egresses/${egress_id}`, { egress })],
        [2, () => platform.post("/users", { user })],
      ] as const) {
        const trips = [0, 0, 0];
        trips[shard] = costs;
        expect(await service.tripsOf(() => given(request()))).toEqual(trips);
      }
    }
  });
});

describe("A new organization whose database fails", () => {
  const answerLost: OnTrip = async (run) => {
    await run();
    return isDown(run);
  };

  function anOrganizationToMake(service: ShardedService) {
    const organization = { name: "Clinic", slug: unique("org") };
    return { ...organization, create: () => service.platform.post("/organizations", { organization }) };
  }

  it("keeps its place, where the next request for its slug creates it", async () => {
    const service = aShardedService();
    const { slug, create } = anOrganizationToMake(service);
    expectRefusal(await service.during(2, isDown, create), 503);
    const [place] = await rowsIn(env.DB, "select id from places where slug = ?", slug);
    expect(await given(create())).toMatchObject({ id: place?.id, slug });
    expectRefusal(await create(), 422, /^organization\.slug: is taken/);
  });

  it("is not created twice if only the answer was lost", async () => {
    const service = aShardedService();
    const { slug, create } = anOrganizationToMake(service);
    let trip = 0;
    const secondAnswerLost: OnTrip = (run) => (++trip === 2 ? answerLost(run) : run());
    expectRefusal(await service.during(2, secondAnswerLost, create), 503);
    expectRefusal(await create(), 422, /^organization\.slug: is taken/);
    expect(await rowsIn(env.SPARE_2, "select slug from organizations where slug = ?", slug)).toEqual([
      { slug },
    ]);
  });
});

describe("While a shard is down,", () => {
  it("its organizations get 503, and the other shards' organizations are not affected", async () => {
    const service = aShardedService();
    const [down, up] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const first = await service.anOrganizationIn(0);
    // A page past the end, to get the total.
    const { pagination } = await given(service.platform.get("/organizations?per_page=100&page=100"));
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
      // A list without that shard's organizations would be wrong, so it is refused.
      const page = `/organizations?per_page=1&page=${pagination.total_count - 2}`;
      expectRefusal(await service.platform.get(page), 503);
    });
  });

  it("GET /health names it", async () => {
    const service = aShardedService();
    const ask = async () => service.fetcher(new Request("https://service.test/health"));
    const answer = await service.during(2, isDown, ask);
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("shard 2");
  });
});

it("A database without a range of ids takes no organization, and GET /health names it", async () => {
  const { value } =
    (await rowsIn(env.SPARE_2, "select value from database_settings where name = 'range'"))[0] ?? {};
  await env.SPARE_2.prepare("delete from database_settings where name = 'range'").run();
  const service = aShardedService();
  const organization = { name: "Clinic", slug: unique("org") };
  try {
    expectRefusal(await service.platform.post("/organizations", { organization }), 500);
    const answer = await service.fetcher(new Request("https://service.test/health"));
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("shard 2");
  } finally {
    await env.SPARE_2.prepare("insert into database_settings (name, value) values ('range', ?)")
      .bind(value)
      .run();
  }
  await given(service.platform.post("/organizations", { organization }));
});
