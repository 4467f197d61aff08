import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, PLATFORM_TOKEN } from "./support/api.ts";
import { expectRefusal } from "./support/expectations.ts";
import { aLiveKitRoom, anEgressId, at, delivered, EgressStatus, VISIT_AT } from "./support/livekit.ts";
import { given, unique } from "./support/organization.ts";
import {
  aRoomWithOwner,
  homesOf,
  inTwoShards,
  letPass,
  MINUTE,
  makeShards,
  rowsIn,
} from "./support/sharded_visits.ts";
import { aShardedService, failing, isDown, type OnTrip, type ShardedService } from "./support/shards.ts";

beforeAll(makeShards);

afterEach(() => {
  vi.useRealTimers();
});

const statusesOf = (answers: Answer[]) => [...new Set(answers.map(({ status }) => status))].sort();

describe("A key that two organizations in two shards report at once has one owner:", () => {
  it.each([
    ["two others", [1, 2]],
    ["the first and another", [0, 1]],
  ] as [string, [number, number]][])("that of a call, in %s", async (_, shards) => {
    const service = aShardedService();
    const both = await inTwoShards(service, shards);
    const key = unique("call");
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const by = n % 2;
        return service.platform
          .put(`/calls/${key}`, { call: both[by as 0 | 1].call })
          .then((answer) => ({ by, ...answer }));
      }),
    );
    const [home, ...others] = await homesOf(key);
    expect(others).toEqual([]);
    const ownerIs = shards.indexOf(home as number);
    for (const { by, status } of answers) expect(status).toBe(by === ownerIs ? 200 : 422);
  });

  it.each([
    ["two others", [1, 2]],
    ["the first and another", [0, 1]],
  ] as [string, [number, number]][])("those of an egress and of its file, in %s", async (_, shards) => {
    const service = aShardedService();
    const both = await inTwoShards(service, shards);
    const keys: string[] = [];
    for (const { call } of both) {
      const key = unique("call");
      keys.push(key);
      await given(service.platform.put(`/calls/${key}`, { call }));
    }
    const report = (egress_id: string, by: number, egress: object) =>
      service.platform.put(`/egresses/${egress_id}`, { egress: { call_key: keys[by], ...egress } });
    const egress_id = unique("egress");
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => report(egress_id, n % 2, { status: "egress_starting" })),
    );
    expect(statusesOf(answers)).toEqual([200, 422]);
    const ofOne = answers.filter((_, n) => n % 2 === 0);
    const ofOther = answers.filter((_, n) => n % 2 === 1);
    expect(statusesOf(ofOne)).toHaveLength(1);
    expect(statusesOf(ofOther)).toHaveLength(1);
    const storage_key = unique("file");
    const own = [unique("egress"), unique("egress")];
    const named = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        report(own[n % 2] as string, n % 2, { status: "egress_ended", storage_key }),
      ),
    );
    expect(statusesOf(named)).toEqual([200, 422]);
    expect(statusesOf(named.filter((_, n) => n % 2 === 0))).toHaveLength(1);
    expect(statusesOf(named.filter((_, n) => n % 2 === 1))).toHaveLength(1);
  });

  it("also while a fifth of D1's transactions fail, when the reporters have repeated what was 503", async () => {
    const service = aShardedService();
    const both = await inTwoShards(service);
    const keys = Array.from({ length: 5 }, () => unique("call"));
    service.on.fill(failing(0.2));
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        for (;;) {
          const { call } = both[(n % 2) as 0 | 1];
          const answer = await service.platform.put(`/calls/${keys[n % 5]}`, { call });
          if (answer.status !== 503) return answer;
          expect(answer.headers.get("Retry-After")).toBeTruthy();
        }
      }),
    );
    service.on.fill((run) => run());
    expect(answers.filter(({ status }) => status !== 200 && status !== 422)).toEqual([]);
    for (const key of keys) expect(await homesOf(key)).toHaveLength(1);
  });
});

describe("A key has one owner", () => {
  it("also where LiveKit's room has a call by its name, and is reported by its sid too", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service, [1, 0]);
    const room = await aLiveKitRoom(one.organization);
    const report = (key: string, { call }: { call: object }) =>
      service.platform.put(`/calls/${key}`, { call });
    const call = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
    await given(report(room.name, { call: { ...one.call, ...call } }));
    await delivered([room.started()], service.liveKit);
    expect(await homesOf(room.sid)).toEqual([]);
    await given(report(room.sid, one));
    letPass(2 * MINUTE);
    await given(service.platform.get(`/calls/${room.sid}`));
    expectRefusal(await report(room.sid, other), 422);
    expect(await homesOf(room.sid)).toEqual([1]);
  });

  it("also where an event names a recorded file, finds no call and cannot be kept", async () => {
    const service = aShardedService();
    const { one, rooms, file } = await aFileWithoutCall(service);
    const egress_id = anEgressId();
    let trip = 0;
    // The directory is asked, and what was claimed is dropped; then the event is to be kept.
    const thirdFails: OnTrip = (run) => (++trip > 2 ? isDown(run) : run());
    const event = rooms[1].recorded(egress_id, 60, file);
    await service.during(0, thirdFails, async () => expectRefusal(await service.liveKit.send(event), 503));
    const claims = () =>
      rowsIn(env.DB, "select key, organization_id from locations where key in (?, ?)", file, egress_id);
    expect(await claims()).toEqual([{ key: file, organization_id: one.id }]);
    const other = await aRoomWithOwner(await service.anOrganizationIn(0));
    const key = unique("call");
    await given(service.platform.put(`/calls/${key}`, { call: other.call }));
    const egress = { call_key: key, status: "egress_ended", storage_key: file };
    expectRefusal(await service.platform.put(`/egresses/${unique("egress")}`, { egress }), 422);
  });
});

/** An organization in shard 1 that has recorded a file, and whose second room has the name of a call that ended before. */
async function aFileWithoutCall(service: ShardedService) {
  const one = await service.anOrganizationIn(1);
  const room = await aLiveKitRoom(one);
  const rooms = [room, await aLiveKitRoom(one, { name: room.name })] as const;
  await given(service.platform.put(`/calls/${room.name}`, { call: anEndedCallIn(room) }));
  const file = unique("file");
  const egress = { call_key: room.name, status: "egress_ended", storage_key: file };
  await given(service.platform.put(`/egresses/${unique("egress")}`, { egress }));
  letPass(2 * MINUTE);
  return { one, rooms, file };
}

/** One that had ended when LiveKit's events begin. */
const anEndedCallIn = ({ waitingRoom, owner }: Awaited<ReturnType<typeof aLiveKitRoom>>) => ({
  waiting_room_slug: waitingRoom.slug,
  organization_user_id: owner.id,
  started_at: at(-1800),
  ended_at: at(-60),
});

/** Holds up one round trip, from when it is made until it is released. */
function holdingUp(number: number) {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let trip = 0;
  const onTrip: OnTrip = async (run) => {
    if (++trip === number) {
      arrived.resolve();
      await released.promise;
    }
    return run();
  };
  return { onTrip, arrived: arrived.promise, release: released.resolve };
}

describe("A claim", () => {
  it("is as young as the report, however long its body takes to arrive", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service);
    const key = unique("call");
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const body = writable.getWriter();
    const [beginning, rest] = [`{"call":`, `${JSON.stringify(one.call)}}`];
    const request = new Request(`https://service.test/api/platform/calls/${key}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${PLATFORM_TOKEN}` },
      body: readable,
    });
    const slow = service.fetcher(request);
    await body.write(new TextEncoder().encode(beginning));
    letPass(MINUTE + 1000);
    const write = holdingUp(2);
    service.on[1] = write.onTrip;
    await body.write(new TextEncoder().encode(rest));
    await body.close();
    await write.arrived;
    expectRefusal(await service.platform.put(`/calls/${key}`, { call: other.call }), 422);
    write.release();
    expect((await slow).status).toBe(200);
    expect(await homesOf(key)).toEqual([1]);
  });

  it.each([
    ["of another shard", [1, 2]],
    ["of the first shard", [1, 0]],
  ] as [string, [number, number]][])(
    "that was taken over by an organization %s refuses the row that comes late, however late",
    async (_, shards) => {
      const service = aShardedService();
      const [one, other] = await inTwoShards(service, shards);
      const key = unique("call");
      const write = holdingUp(2);
      service.on[1] = write.onTrip;
      const late = service.platform.put(`/calls/${key}`, { call: one.call });
      await write.arrived;
      letPass(MINUTE + 1000);
      await given(service.platform.put(`/calls/${key}`, { call: other.call }));
      write.release();
      expectRefusal(await late, 422);
      expect(await homesOf(key)).toEqual([shards[1]]);
    },
  );

  it("comes back to an organization that lost it to one that did not use it", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service);
    const key = unique("call");
    const report = ({ call }: { call: object }) => service.platform.put(`/calls/${key}`, { call });
    await service.during(1, isDown, async () => expectRefusal(await report(one), 503));
    letPass(MINUTE + 1000);
    await service.during(2, isDown, async () => expectRefusal(await report(other), 503));
    letPass(MINUTE + 1000);
    await given(report(one));
    expect(await homesOf(key)).toEqual([1]);
  });

  it.each([
    ["of another shard", [1, 2]],
    ["of the first shard", [1, 0]],
  ] as [string, [number, number]][])(
    "of a report that was refused is dropped at once, for an organization %s",
    async (_, shards) => {
      const service = aShardedService();
      const [one, other] = await inTwoShards(service, shards);
      const [key, egress_id, storage_key] = [unique("call"), unique("egress"), unique("file")];
      const report = (call: object) => service.platform.put(`/calls/${key}`, { call });
      expectRefusal(await report({ ...one.call, organization_user_id: other.owner.id }), 422);
      await given(report(other.call));
      const others = unique("call");
      await given(service.platform.put(`/calls/${others}`, { call: one.call }));
      const egress = (of: object) =>
        service.platform.put(`/egresses/${egress_id}`, { egress: { storage_key, ...of } });
      // The first report has no status.
      expectRefusal(await egress({ call_key: others }), 422);
      await given(egress({ call_key: key, status: "egress_ended" }));
    },
  );

  it("that was dropped while another report of its organization used it is made again", async () => {
    const service = aShardedService();
    const { call } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const key = unique("call");
    const report = (each: object) => service.platform.put(`/calls/${key}`, { call: each });
    const write = holdingUp(2);
    service.on[1] = write.onTrip;
    const right = report(call);
    await write.arrived;
    expectRefusal(await report({ ...call, organization_user_id: 1 }), 422);
    write.release();
    await given(right);
    expect(await homesOf(key)).toEqual([1]);
    expect(await rowsIn(env.DB, "select key from locations where key = ?", key)).toEqual([{ key }]);
  });

  it("of a right report outlives those of wrong ones before and beside it", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service);
    const key = unique("call");
    const report = (each: object) => service.platform.put(`/calls/${key}`, { call: each });
    const wrong = { ...one.call, organization_user_id: 1 };
    expectRefusal(await report(wrong), 422);
    // It reads, is refused by the fence of the wrong one, and asks again; then it is to take the fence away.
    const fence = holdingUp(3);
    service.on[1] = fence.onTrip;
    const right = report(one.call);
    await fence.arrived;
    expectRefusal(await report(wrong), 422);
    fence.release();
    await given(right);
    letPass(2 * MINUTE);
    await given(service.platform.get(`/calls/${key}`));
    expectRefusal(await report(other.call), 422);
    expect(await homesOf(key)).toEqual([1]);
  });

  it.each([
    ["was refused", { organization_user_id: 1 }],
    ["is under way", {}],
  ])("of a room's name, whose report %s, is no claim of the room's sid", async (_, change) => {
    const service = aShardedService();
    const room = await aLiveKitRoom(await service.anOrganizationIn(1));
    const { waitingRoom, owner } = room;
    const call = { waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id, started_at: at(0) };
    const read = holdingUp(1);
    service.on[1] = read.onTrip;
    const report = service.platform.put(`/calls/${room.name}`, { call: { ...call, ...change } });
    await read.arrived;
    await delivered([room.started()], service.liveKit);
    read.release();
    await report;
    letPass(2 * MINUTE);
    await given(service.platform.get(`/calls/${room.sid}`));
    const other = await aRoomWithOwner(await service.anOrganizationIn(2));
    expectRefusal(await service.platform.put(`/calls/${room.sid}`, { call: other.call }), 422);
    expect(await homesOf(room.sid)).toEqual([1]);
  });
});

describe("A refusal because of another organization's key says so,", () => {
  it.each([
    ["in two shards", [1, 2]],
    ["the other in the first shard", [1, 0]],
    ["in one shard", [1, 1]],
  ] as [string, [number, number]][])("%s", async (_, shards) => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service, shards);
    const [key, others, egress_id] = [unique("call"), unique("call"), unique("egress")];
    const report = (each: string, call: object) => service.platform.put(`/calls/${each}`, { call });
    await given(report(key, one.call));
    await given(report(others, other.call));
    const egress = (call_key: string) =>
      service.platform.put(`/egresses/${egress_id}`, { egress: { call_key, status: "egress_active" } });
    await given(egress(key));
    letPass(2 * MINUTE);
    const { body } = await report(key, other.call);
    expect(body.error).toContain("if another organization uses the key, report the call under a new key");
    const refusal = await egress(others);
    expect(refusal.body.error).toBe("egress.call_key: must be the call of the first report, or left out");
  });
});

it("A key whose owner cannot be found out is asked for a few times, then the answer is 503", async () => {
  const service = aShardedService();
  const { organization } = await aRoomWithOwner(await service.anOrganizationIn(1));
  const room = await aLiveKitRoom(organization);
  const egress_id = anEgressId();
  await delivered([room.started()], service.liveKit);
  // A worker whose clock was ahead has left a fence.
  await env.SPARE_1.prepare("insert into locations values ('egress', ?, ?, ?)")
    .bind(egress_id, organization.id, Date.now() + 10 * MINUTE)
    .run();
  const trips = await service.tripsOf(async () => {
    expectRefusal(await service.liveKit.send(room.recorded(egress_id, 60)), 503);
  });
  expect(trips[0]).toBe(5);
});

describe("A claim whose row never came", () => {
  it.each([
    ["of another shard", [1, 2]],
    ["of the first shard", [1, 0]],
  ] as [string, [number, number]][])("goes after a minute to the next claimant %s", async (_, shards) => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service, shards);
    const key = unique("call");
    const report = ({ call }: { call: object }) => service.platform.put(`/calls/${key}`, { call });
    await service.during(1, isDown, async () => expectRefusal(await report(one), 503));
    expectRefusal(await report(other), 422);
    letPass(MINUTE + 1);
    expect(await report(other)).toMatchObject({ status: 200 });
    expect(await homesOf(key)).toEqual([shards[1]]);
    expectRefusal(await report(one), 422);
  });

  it("stays its owner's where the row came, however late the next claimant comes", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service);
    const key = unique("call");
    await given(service.platform.put(`/calls/${key}`, { call: one.call }));
    letPass(10 * MINUTE);
    expectRefusal(await service.platform.put(`/calls/${key}`, { call: other.call }), 422);
    expect(await homesOf(key)).toEqual([1]);
  });

  it("is used by its own organization, which reports again", async () => {
    const service = aShardedService();
    const { call } = await aRoomWithOwner(await service.anOrganizationIn(1));
    const key = unique("call");
    await service.during(1, isDown, async () =>
      expectRefusal(await service.platform.put(`/calls/${key}`, { call }), 503),
    );
    await given(service.platform.put(`/calls/${key}`, { call }));
    expect(await homesOf(key)).toEqual([1]);
  });
});

describe("An egress of LiveKit's", () => {
  it("waits in the directory for a call in another shard, which takes it", async () => {
    const service = aShardedService();
    const organization = await service.anOrganizationIn(2);
    const room = await aLiveKitRoom(organization);
    const egress_id = anEgressId();
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE)], service.liveKit);
    await delivered([room.started()], service.liveKit);
    const inShard = () => rowsIn(env.SPARE_2, "select status from egresses where egress_id = ?", egress_id);
    expect(await inShard()).toEqual([{ status: "egress_active" }]);
    expect(await rowsIn(env.DB, "select 1 from livekit_egresses where egress_id = ?", egress_id)).toEqual([]);
    await delivered([room.recorded(egress_id, 60)], service.liveKit);
    expect(await inShard()).toEqual([{ status: "egress_ended" }]);
  });

  it.each([
    ["the same shard", [0, 0]],
    ["the first shard", [1, 0]],
    ["a third shard", [1, 2]],
  ] as [string, [number, number]][])(
    "is its room's, whose name is that of another organization's ended call, in %s",
    async (_, shards) => {
      const service = aShardedService();
      const namesake = await aLiveKitRoom(await service.anOrganizationIn(shards[0]));
      await given(service.platform.put(`/calls/${namesake.name}`, { call: anEndedCallIn(namesake) }));
      const other = await service.anOrganizationIn(shards[1]);
      const room = await aLiveKitRoom(other, { name: namesake.name });
      const egress_id = anEgressId();
      const begun = { startedAt: BigInt(VISIT_AT) * 1_000_000n };
      const active = room.egress(egress_id, EgressStatus.EGRESS_ACTIVE, begun);
      const recorded = room.recorded(egress_id, 60);
      await delivered([active, active, room.started(), recorded, recorded], service.liveKit);
      const found = await Promise.all(
        [env.DB, env.SPARE_1, env.SPARE_2].map((each) =>
          rowsIn(
            each,
            "select organization_id, status, storage_key from egresses where egress_id = ?",
            egress_id,
          ),
        ),
      );
      const egress = {
        organization_id: other.id,
        status: "egress_ended",
        storage_key: `${egress_id}.mp4`,
      };
      expect(found).toEqual([0, 1, 2].map((shard) => (shard === shards[1] ? [egress] : [])));
      const waiting = "select 1 from livekit_egresses where egress_id = ?";
      expect(await rowsIn(env.DB, waiting, egress_id)).toEqual([]);
    },
  );

  it("leaves out another's file also where its call comes while the event looks for it", async () => {
    const service = aShardedService();
    const { rooms, file } = await aFileWithoutCall(service);
    const first = await service.anOrganizationIn(0);
    const room = await aLiveKitRoom(first, { name: rooms[0].name });
    const egress_id = anEgressId();
    let trip = 0;
    const thirdIsLate: OnTrip = async (run) => {
      // The directory was asked, and what was claimed is dropped.
      if (++trip === 3) await delivered([room.started()], service.liveKit);
      return run();
    };
    const event = room.recorded(egress_id, 60, file);
    await service.during(0, thirdIsLate, () => delivered([event], service.liveKit));
    expect(
      await rowsIn(
        env.DB,
        "select organization_id, status, storage_key from egresses where egress_id = ?",
        egress_id,
      ),
    ).toEqual([{ organization_id: first.id, status: "egress_ended", storage_key: null }]);
  });

  it("leaves no claim behind where it waits for its call", async () => {
    const service = aShardedService();
    const { rooms } = await aFileWithoutCall(service);
    const egress_id = anEgressId();
    const file = unique("file");
    const event = rooms[1].recorded(egress_id, 60, file);
    await delivered([event, event], service.liveKit);
    await service.runCron();
    expect(await rowsIn(env.DB, "select * from locations where key in (?, ?)", egress_id, file)).toEqual([]);
    await delivered([rooms[1].started()], service.liveKit);
  });

  it("leaves out a file of an organization in another shard", async () => {
    const service = aShardedService();
    const [one, other] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const rooms = [await aLiveKitRoom(one), await aLiveKitRoom(other)] as const;
    const [mine, theirs] = [anEgressId(), anEgressId()];
    const file = unique("file");
    await delivered([rooms[0].started(), rooms[0].recorded(mine, 60, file)], service.liveKit);
    await delivered([rooms[1].started(), rooms[1].recorded(theirs, 60, file)], service.liveKit);
    const fileOf = (database: D1Database, id: string) =>
      rowsIn(database, "select status, storage_key from egresses where egress_id = ?", id);
    expect(await fileOf(env.SPARE_1, mine)).toEqual([{ status: "egress_ended", storage_key: file }]);
    expect(await fileOf(env.SPARE_2, theirs)).toEqual([{ status: "egress_ended", storage_key: null }]);
  });

  it("keeps its file where another's refused report has named both before", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service);
    const key = unique("call");
    await given(service.platform.put(`/calls/${key}`, { call: one.call }));
    const room = await aLiveKitRoom(other.organization);
    await delivered([room.started()], service.liveKit);
    const egress_id = anEgressId();
    const storage_key = `${egress_id}.mp4`;
    const egress = { call_key: key, status: "egress_ended", storage_key };
    const report = () => service.platform.put(`/egresses/${egress_id}`, { egress });
    await service.during(1, isDown, async () => expectRefusal(await report(), 503));
    letPass(10 * MINUTE);
    await delivered([room.recorded(egress_id, 60)], service.liveKit);
    expect(await egressIn(env.SPARE_2, egress_id)).toEqual([{ status: "egress_ended", storage_key }]);
  });

  it.each([
    ["another shard", 2],
    ["the first shard", 0],
  ])(
    "has its file to itself, though its room has the name of a call of an organization in %s",
    async (_, shard) => {
      const service = aShardedService();
      const [one, other] = await inTwoShards(service, [1, shard]);
      const room = await aLiveKitRoom(one.organization);
      const [key, egress_id, storage_key] = [unique("call"), anEgressId(), unique("file")];
      await given(service.platform.put(`/calls/${key}`, { call: one.call }));
      await given(service.platform.put(`/calls/${room.name}`, { call: other.call }));
      const report = (id: string, egress: object) => service.platform.put(`/egresses/${id}`, { egress });
      await given(report(egress_id, { call_key: key, status: "egress_active" }));
      // The fence of a refused report is not in the way.
      expectRefusal(
        await report(egress_id, { call_key: key, status: "egress_active", storage_key, user_id: 1 }),
        422,
      );
      letPass(10 * MINUTE);
      await delivered([room.recorded(egress_id, 60, storage_key)], service.liveKit);
      expect(await egressIn(env.SPARE_1, egress_id)).toEqual([{ status: "egress_ended", storage_key }]);
      const others = { call_key: room.name, status: "egress_ended", storage_key };
      expectRefusal(await report(unique("egress"), others), 422);
    },
  );

  it("comes to its call in the first shard by an event without its file, which is another's meanwhile", async () => {
    const service = aShardedService();
    const one = await aRoomWithOwner(await service.anOrganizationIn(1));
    const room = await aLiveKitRoom(await service.anOrganizationIn(0));
    const [egress_id, storage_key, key] = [anEgressId(), unique("file"), unique("call")];
    await delivered([room.recorded(egress_id, 60, storage_key)], service.liveKit);
    await given(service.platform.put(`/calls/${key}`, { call: one.call }));
    const egress = { call_key: key, status: "egress_ended", storage_key };
    await given(service.platform.put(`/egresses/${unique("egress")}`, { egress }));
    await delivered([room.started(), room.egress(egress_id, EgressStatus.EGRESS_ACTIVE)], service.liveKit);
    expect(await egressIn(env.DB, egress_id)).toEqual([{ status: "egress_ended", storage_key: null }]);
  });

  it("can be reported by the platform without its file, which is another's, while it waits", async () => {
    const service = aShardedService();
    const [one, other] = await inTwoShards(service, [1, 0]);
    const room = await aLiveKitRoom(other.organization);
    const [egress_id, storage_key, key, others] = [
      anEgressId(),
      unique("file"),
      unique("call"),
      unique("call"),
    ];
    await delivered([room.recorded(egress_id, 60, storage_key)], service.liveKit);
    await given(service.platform.put(`/calls/${key}`, { call: one.call }));
    await given(service.platform.put(`/calls/${others}`, { call: other.call }));
    const report = (id: string, egress: object) =>
      given(service.platform.put(`/egresses/${id}`, { egress: { status: "egress_ended", ...egress } }));
    await report(unique("egress"), { call_key: key, storage_key });
    await report(egress_id, { call_key: others });
    expect(await egressIn(env.DB, egress_id)).toEqual([{ status: "egress_ended", storage_key: null }]);
  });

  it.each([0, 1])(
    "stays as the platform has corrected it, though it has waited, in shard %i",
    async (shard) => {
      const service = aShardedService();
      const room = await aLiveKitRoom(await service.anOrganizationIn(shard));
      const egress_id = anEgressId();
      await delivered([room.recorded(egress_id, 60)], service.liveKit);
      const { waitingRoom, owner } = room;
      const call = { waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id, started_at: at(0) };
      let trip = 0;
      // The call is placed; then what waits for it is to be found.
      const secondFails: OnTrip = (run) => (++trip > 1 && shard > 0 ? isDown(run) : run());
      await service.during(0, secondFails, () => given(service.platform.put(`/calls/${room.sid}`, { call })));
      const storage_key = unique("moved");
      const egress = { call_key: room.sid, status: "egress_ended", storage_key };
      await given(service.platform.put(`/egresses/${egress_id}`, { egress }));
      letPass(2 * MINUTE);
      await service.runCron();
      const database = [env.DB, env.SPARE_1][shard] as D1Database;
      expect(await egressIn(database, egress_id)).toEqual([{ status: "egress_ended", storage_key }]);
      expect(await rowsIn(env.DB, "select 1 from livekit_egresses where egress_id = ?", egress_id)).toEqual(
        [],
      );
    },
  );

  it("of the first shard is found by the cron where another's claim, which stands for nothing, was in its way", async () => {
    const service = aShardedService();
    const one = await aRoomWithOwner(await service.anOrganizationIn(1));
    const room = await aLiveKitRoom(await service.anOrganizationIn(0));
    const [first, second] = [anEgressId(), anEgressId()];
    const file = unique("file");
    await delivered([room.recorded(first, 60, file), room.recorded(second, 60)], service.liveKit);
    const key = unique("call");
    await given(service.platform.put(`/calls/${key}`, { call: one.call }));
    const report = (egress_id: string, egress: object) =>
      service.platform.put(`/egresses/${egress_id}`, { egress: { call_key: key, ...egress } });
    await service.during(1, isDown, async () => {
      expectRefusal(await report(unique("egress"), { status: "egress_ended", storage_key: file }), 503);
      expectRefusal(await report(second, { status: "egress_ended" }), 503);
    });
    letPass(10 * MINUTE);
    await delivered([room.started()], service.liveKit);
    await service.runCron();
    expect(await egressIn(env.DB, first)).toEqual([{ status: "egress_ended", storage_key: file }]);
    expect(await egressIn(env.DB, second)).toEqual([
      { status: "egress_ended", storage_key: `${second}.mp4` },
    ]);
  });

  it("comes to its call though the shard of others that wait is down", async () => {
    const service = aShardedService();
    const [down, up] = [await service.anOrganizationIn(1), await service.anOrganizationIn(2)];
    const waiting: string[] = [];
    for (const organization of [down, up, down, up, down, up]) {
      const room = await aLiveKitRoom(organization);
      const egress_id = anEgressId();
      if (organization === up) waiting.push(egress_id);
      await delivered([room.recorded(egress_id, 60)], service.liveKit);
      let trip = 0;
      const secondFails: OnTrip = (run) => (++trip > 1 ? isDown(run) : run());
      await service.during(0, secondFails, () => delivered([room.started()], service.liveKit));
    }
    await service.during(1, isDown, service.runCron);
    for (const egress_id of waiting) expect(await egressIn(env.SPARE_2, egress_id)).toHaveLength(1);
  });
});

const egressIn = (database: D1Database, egress_id: string) =>
  rowsIn(database, "select status, storage_key from egresses where egress_id = ?", egress_id);
