import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../src/database/schema.ts";
import { platform } from "./support/api.ts";
import { aCall, aRecipient, reportCall, reportEgress } from "./support/calls.ts";
import { countingRoundTrips } from "./support/database.ts";
import { aLiveKitRoom, aLiveKitServer, anEgressId, at, delivered, EgressStatus } from "./support/livekit.ts";
import { compositeStarted, endedWithoutSid, startedWithoutStatus } from "./support/livekit_payloads.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

type Room = Awaited<ReturnType<typeof aLiveKitRoom>>;

const RITA = { name: "Rita Recipient", attributes: { recording_consent: "true" } };

/** What LiveKit sends of a recording. */
const eventsOf = (room: Room, egress_id: string) => [
  room.egress(egress_id, EgressStatus.EGRESS_STARTING),
  room.egress(egress_id, EgressStatus.EGRESS_ACTIVE),
  room.egress(egress_id, EgressStatus.EGRESS_ENDING),
  room.recorded(egress_id, 600),
];

/** Reports the call of a room, as the platform does. */
const reportCallOf = (clinic: Organization, { waitingRoom, owner }: Room, key: string, call: object = {}) =>
  given(
    reportCall(clinic, key, {
      waiting_room_slug: waitingRoom.slug,
      organization_user_id: owner.id,
      started_at: at(0),
      ended_at: at(590),
      participants: [aRecipient()],
      ...call,
    }),
  );

/** The recordings of the one call that the owner of a room holds. */
async function recordingsOf({ client }: Organization, { owner }: Room) {
  const { calls } = await given(client.get(`/organization_users/${owner.id}/calls`));
  const path = `/organization_users/${owner.id}/calls/${calls[0].id}/egresses`;
  return { path, egresses: (await given(client.get(path))).egresses };
}

const waiting = async () =>
  (await env.DB.prepare("select * from livekit_egresses order by rowid").all()).results;

const RECORDED = { status: "egress_ended", error: null, is_stopped: true, ended_at: at(600) };

beforeEach(() => env.DB.exec("delete from livekit_egresses"));

describe("LiveKit's events of an egress", () => {
  it.each(["sid", "name"] as const)("report it to the call whose key is the room's %s", async (names) => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
    await reportCallOf(clinic, room, room[names]);
    const states = [];
    for (const event of eventsOf(room, egress_id)) {
      await delivered([event]);
      states.push((await recordingsOf(clinic, room)).egresses[0].status);
    }
    expect(states).toEqual(["egress_starting", "egress_active", "egress_ending", "egress_ended"]);
    const { path, egresses } = await recordingsOf(clinic, room);
    expect(egresses).toMatchObject([{ egress_id, ...RECORDED }]);
    const { url } = await given(clinic.client.get(`${path}/${egresses[0].id}`));
    expect(new URL(url).pathname).toMatch(new RegExp(`/${egress_id}\\.mp4$`));
    const { audit_logs } = await given(clinic.client.get(`${path}/${egresses[0].id}/audit_logs`));
    expect(audit_logs.map(({ event }: { event: string }) => event)).toEqual([
      "read",
      "update",
      "update",
      "update",
      "create",
    ]);
    expect(audit_logs.at(-1).user_id).toBe(SYSTEM_USER_ID);
  });

  it("prefer the call of the sid to the call of the name", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic, { metadata: "" });
    const byName = await aLiveKitRoom(clinic);
    await reportCallOf(clinic, byName, room.name);
    await reportCallOf(clinic, room, room.sid);
    await delivered([room.recorded(anEgressId(), 600)]);
    expect((await recordingsOf(clinic, room)).egresses).toHaveLength(1);
    expect((await recordingsOf(clinic, byName)).egresses).toHaveLength(0);
  });

  it("lead to the same recording in every order and twice, before and after the call", {
    timeout: 60_000,
  }, async () => {
    const clinic = await anOrganization();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 5 }), { maxLength: 5 }), fc.integer(), async (early, seed) => {
        const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
        const events = [...eventsOf(room, egress_id), room.joined("rita", 8, RITA), room.finished(590)].map(
          (event) => event.replaceAll('"rita"', `"${egress_id}-rita"`),
        );
        const [shuffled] = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), {
          numRuns: 1,
          seed,
        });
        await delivered([...early.map((n) => events[n] as string), ...(shuffled ?? [])]);
        expect((await recordingsOf(clinic, room)).egresses).toMatchObject([{ egress_id, ...RECORDED }]);
        expect(await waiting()).toEqual([]);
        await changingNothing(() => delivered(events));
      }),
      { numRuns: 20 },
    );
  });

  it("report further what the platform has reported, whatever its call is called", async () => {
    const clinic = await anOrganization();
    const [room, call, egress_id] = [await aLiveKitRoom(clinic), await aCall(clinic), anEgressId()];
    await given(reportEgress(clinic, egress_id, { call_key: call.key, status: "egress_starting" }));
    await delivered(eventsOf(room, egress_id));
    const { egresses } = await given(clinic.client.get(`${call.path}/egresses`));
    expect(egresses).toMatchObject([{ egress_id, ...RECORDED }]);
  });

  it("are understood as real servers have sent them", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const call = { started_at: "2024-11-15T11:00:00Z", ended_at: "2024-11-15T11:10:00Z" };
    await reportCallOf(clinic, room, room.name, call);
    const [composite, starting, track] = [anEgressId(), anEgressId(), anEgressId()];
    await delivered([
      compositeStarted(room.name, "RM_another", composite),
      startedWithoutStatus(room.name, "RM_another", starting),
    ]);
    expect(await waiting()).toMatchObject([
      { egress_id: composite, status: "egress_starting", is_stopped: 0, ended_at: null },
      { egress_id: starting, status: "egress_starting", is_stopped: 0, ended_at: null },
    ]);
    const file = `${clinic.slug}/4aa5307b.webm`;
    await delivered([endedWithoutSid(room.name, track).replaceAll("4aa5307b.webm", file)]);
    const { path, egresses } = await recordingsOf(clinic, room);
    expect(egresses).toMatchObject([
      { egress_id: track, status: "egress_ended", error: null, ended_at: "2024-11-15T11:09:53.605Z" },
    ]);
    expect((await given(clinic.client.get(`${path}/${egresses[0].id}`))).url).toContain(file);
  });

  it("cost at most two round trips to D1, and one where they change nothing", async () => {
    const clinic = await anOrganization();
    const [room, known] = [await aLiveKitRoom(clinic), await aLiveKitRoom(clinic)];
    await reportCallOf(clinic, known, known.sid);
    const { fetcher, during } = countingRoundTrips();
    const server = aLiveKitServer({ fetcher });
    for (const [each, egress_id] of [
      [room, anEgressId()],
      [known, anEgressId()],
    ] as const)
      for (const event of eventsOf(each, egress_id)) {
        expect(await during(() => delivered([event], server))).toBe(2);
        expect(await during(() => delivered([event], server))).toBe(1);
      }
  });
});

describe("An egress event whose call nobody has reported", () => {
  it("waits for the call, and holds nothing but ids, the state, the storage key and the error", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE), room.recorded(egress_id, 600)]);
    expect(await waiting()).toEqual([
      {
        organization_id: clinic.id,
        egress_id,
        room_sid: room.sid,
        room_name: room.name,
        status: "egress_ended",
        error: null,
        is_stopped: 1,
        started_at: Date.parse(at(0)),
        ended_at: Date.parse(at(600)),
        storage_key: `${clinic.slug}/${egress_id}.mp4`,
        check_at: null,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    ]);
  });

  it.each([
    [
      "LiveKit's own event",
      (_: Organization, room: Room) => delivered([room.joined("rita", 8, RITA), room.finished(590)]),
    ],
    [
      "the platform, by the room's sid",
      (clinic: Organization, room: Room) => reportCallOf(clinic, room, room.sid),
    ],
    [
      "the platform, by the room's name",
      (clinic: Organization, room: Room) => reportCallOf(clinic, room, room.name),
    ],
  ])("is applied when the call appears, through %s", async (_, report) => {
    const clinic = await anOrganization();
    const [room, first, second] = [await aLiveKitRoom(clinic), anEgressId(), anEgressId()];
    await delivered([...eventsOf(room, first), room.recorded(second, 700)]);
    await report(clinic, room);
    const { path, egresses } = await recordingsOf(clinic, room);
    expect(egresses).toMatchObject([
      { egress_id: first, ...RECORDED },
      { egress_id: second, ...RECORDED, ended_at: at(700) },
    ]);
    expect((await given(clinic.client.get(`${path}/${egresses[0].id}`))).url).toContain(`${first}.mp4`);
    const { audit_logs } = await given(
      clinic.client.get(`${path}/${egresses[0].id}/audit_logs?event=create`),
    );
    expect(audit_logs).toMatchObject([
      {
        user_id: SYSTEM_USER_ID,
        object_changes: { egress_id: [null, first], status: [null, "egress_ended"] },
      },
    ]);
    expect(await waiting()).toEqual([]);
  });

  describe("and whose room has the name of a call", () => {
    const began = (seconds: number) => ({ startedAt: BigInt(Date.parse(at(seconds))) * 1_000_000n });

    /** Two rooms of a clinic that have the same name, one after the other. */
    async function aNameUsedAgain() {
      const clinic = await anOrganization();
      const name = `${clinic.slug}--cardiology`;
      const [earlier, later] = [await aLiveKitRoom(clinic, { name }), await aLiveKitRoom(clinic, { name })];
      return { clinic, name, earlier, later };
    }

    it.each(["after", "before"])(
      "goes to no call that had ended when it began, but waits for its sid: it came %s the report",
      async (when) => {
        const { clinic, name, earlier, later } = await aNameUsedAgain();
        const egress_id = anEgressId();
        const events = [
          later.egress(egress_id, EgressStatus.EGRESS_ACTIVE, began(591)),
          later.egress(egress_id, EgressStatus.EGRESS_ENDING, began(600)),
        ];
        if (when === "before") await delivered(events);
        await reportCallOf(clinic, earlier, name);
        if (when === "after") await delivered(events);
        expect((await recordingsOf(clinic, earlier)).egresses).toEqual([]);
        expect(await waiting()).toMatchObject([{ egress_id, status: "egress_ending" }]);
        await reportCallOf(clinic, later, later.sid);
        expect((await recordingsOf(clinic, later)).egresses).toMatchObject([{ egress_id }]);
        expect((await recordingsOf(clinic, earlier)).egresses).toEqual([]);
        expect(await waiting()).toEqual([]);
      },
    );

    it("goes to no call that started more than five minutes after it began, whichever comes first", async () => {
      const clinic = await anOrganization();
      const room = await aLiveKitRoom(clinic, { metadata: "" });
      const [early, late] = [
        { near: anEgressId(), far: anEgressId() },
        { near: anEgressId(), far: anEgressId() },
      ];
      const eventsOfBoth = ({ near, far }: typeof early) => [
        room.egress(near, EgressStatus.EGRESS_ACTIVE, began(-300)),
        room.egress(far, EgressStatus.EGRESS_ACTIVE, began(-301)),
      ];
      await delivered(eventsOfBoth(early));
      await reportCallOf(clinic, room, room.name);
      await delivered(eventsOfBoth(late));
      expect((await recordingsOf(clinic, room)).egresses).toMatchObject([
        { egress_id: early.near },
        { egress_id: late.near },
      ]);
      expect(await waiting()).toMatchObject([{ egress_id: early.far }, { egress_id: late.far }]);
    });

    it("goes to one that was going on when it began, however late it comes", async () => {
      const clinic = await anOrganization();
      const room = await aLiveKitRoom(clinic, { metadata: "" });
      const [early, late] = [anEgressId(), anEgressId()];
      await delivered([room.egress(early, EgressStatus.EGRESS_ENDING, began(590))]);
      await reportCallOf(clinic, room, room.name);
      await delivered([room.egress(late, EgressStatus.EGRESS_ENDING, began(590))]);
      expect((await recordingsOf(clinic, room)).egresses).toMatchObject([
        { egress_id: early },
        { egress_id: late },
      ]);
    });

    it("counts as begun with its earliest event, where LiveKit does not say when it began", async () => {
      const clinic = await anOrganization();
      const room = await aLiveKitRoom(clinic, { metadata: "" });
      const [inTime, tooLate] = [anEgressId(), anEgressId()];
      const eventAt = (egress_id: string, seconds: number) => {
        const event = JSON.parse(room.egress(egress_id, EgressStatus.EGRESS_ACTIVE));
        return JSON.stringify({ ...event, createdAt: String(Date.parse(at(seconds)) / 1000) });
      };
      await delivered([eventAt(inTime, 600), eventAt(inTime, 580), eventAt(tooLate, 600)]);
      await reportCallOf(clinic, room, room.name);
      expect((await recordingsOf(clinic, room)).egresses).toMatchObject([{ egress_id: inTime }]);
      expect(await waiting()).toMatchObject([{ egress_id: tooLate }]);
    });
  });

  it("is asked about ten minutes after LiveKit's last word, when its call has come", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    travelTo("2027-01-31T09:30:00.000Z");
    const egress_id = anEgressId();
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE)]);
    travelTo("2027-01-31T09:33:00.000Z");
    await reportCallOf(clinic, room, room.sid);
    const row = await env.DB.prepare("select check_at from egresses where egress_id = ?")
      .bind(egress_id)
      .first();
    expect(row).toEqual({ check_at: Date.parse("2027-01-31T09:40:00.000Z") });
  });

  it("costs the report of the call no round trip", async () => {
    const room = await aLiveKitRoom(await anOrganization());
    await delivered(eventsOf(room, anEgressId()));
    const { fetcher, during } = countingRoundTrips();
    const report = {
      waiting_room_slug: room.waitingRoom.slug,
      organization_user_id: room.owner.id,
      started_at: at(0),
    };
    const trips = await during(() => given(platform.through(fetcher).put(room.url, { call: report })));
    expect(trips).toBe(2);
    expect(await waiting()).toEqual([]);
  });

  it("goes on as a recording of the call, when further events come", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
    const [starting, active, , ended] = eventsOf(room, egress_id) as [string, string, string, string];
    await delivered([starting, active]);
    await reportCallOf(clinic, room, room.sid);
    expect((await recordingsOf(clinic, room)).egresses).toMatchObject([{ status: "egress_active" }]);
    await delivered([ended, active, starting]);
    expect((await recordingsOf(clinic, room)).egresses).toMatchObject([RECORDED]);
  });

  it("finds a call that a later event names", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
    await delivered([
      room.egress(egress_id, EgressStatus.EGRESS_STARTING, { roomId: "", roomName: `${clinic.slug}--early` }),
    ]);
    await reportCallOf(clinic, room, room.sid);
    expect((await recordingsOf(clinic, room)).egresses).toEqual([]);
    await delivered([room.recorded(egress_id, 600)]);
    expect((await recordingsOf(clinic, room)).egresses).toMatchObject([{ egress_id, ...RECORDED }]);
    expect(await waiting()).toEqual([]);
  });

  it("without a room's sid waits for nothing but the name", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    await delivered([room.egress(anEgressId(), EgressStatus.EGRESS_STARTING, { roomId: "" })]);
    await reportCallOf(clinic, room, room.sid);
    expect(await waiting()).toMatchObject([{ room_sid: null, room_name: room.name }]);
  });

  it("changes no egress that the platform reported meanwhile", async () => {
    const clinic = await anOrganization();
    const [room, call, egress_id] = [await aLiveKitRoom(clinic), await aCall(clinic), anEgressId()];
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_STARTING)]);
    await call.addEgress({}, egress_id);
    const before = (await given(clinic.client.get(`${call.path}/egresses`))).egresses;
    await reportCallOf(clinic, room, room.sid);
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toEqual(before);
    expect((await recordingsOf(clinic, room)).egresses).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it("meets the report of its call without being lost", async () => {
    const clinic = await anOrganization();
    const rooms = await Promise.all(Array.from({ length: 10 }, () => aLiveKitRoom(clinic)));
    await Promise.all(
      rooms.flatMap((room) => [
        delivered([room.recorded(anEgressId(), 600)]),
        reportCallOf(clinic, room, room.sid),
        delivered([room.finished(590)]),
      ]),
    );
    for (const room of rooms) expect((await recordingsOf(clinic, room)).egresses).toMatchObject([RECORDED]);
    expect(await waiting()).toEqual([]);
  });
});

describe("The cron", () => {
  const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });

  it("deletes what has waited for a day, counted from the last change", async () => {
    const room = await aLiveKitRoom(await anOrganization());
    const [early, late] = [anEgressId(), anEgressId()];
    await delivered([
      room.egress(early, EgressStatus.EGRESS_STARTING),
      room.egress(late, EgressStatus.EGRESS_STARTING),
    ]);
    const now = Date.now();
    travelTo(new Date(now + 60 * 60_000).toISOString());
    await delivered([room.recorded(late, 600)]);
    travelTo(new Date(now + 24 * 60 * 60_000 - 1000).toISOString());
    await runCron();
    expect(await waiting()).toHaveLength(2);
    travelTo(new Date(now + 24 * 60 * 60_000 + 60_000).toISOString());
    await runCron();
    expect(await waiting()).toMatchObject([{ egress_id: late }]);
    travelTo(new Date(now + 26 * 60 * 60_000).toISOString());
    await runCron();
    expect(await waiting()).toEqual([]);
  });
});
