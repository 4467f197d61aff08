import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { aCall, aRecipient, reportCall, reportEgress } from "../support/calls.ts";
import { countingRoundTrips } from "../support/database.ts";
import { aLiveKitRoom, aLiveKitServer, anEgressId, at, delivered, EgressStatus } from "../support/livekit.ts";
import { compositeStarted, endedWithoutSid, startedWithoutStatus } from "../support/livekit_payloads.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { timeAhead, travelTo } from "../support/time.ts";

type Room = Awaited<ReturnType<typeof aLiveKitRoom>>;

const RITA = { name: "Rita Recipient", attributes: { recording_consent: "true" } };

const eventsOf = (room: Room, egress_id: string) => [
  room.egress(egress_id, EgressStatus.EGRESS_STARTING),
  room.egress(egress_id, EgressStatus.EGRESS_ACTIVE),
  room.egress(egress_id, EgressStatus.EGRESS_ENDING),
  room.recorded(egress_id, 600),
];

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

/** The recordings of the room owner's only call. */
async function recordingsOf({ client }: Organization, { owner }: Room) {
  const { calls } = await given(client.get(`/organization_users/${owner.id}/calls`));
  const path = `/organization_users/${owner.id}/calls/${calls[0].id}/egresses`;
  return { path, egresses: (await given(client.get(path))).egresses };
}

const waiting = async ({ id }: Organization) =>
  (
    await env.DB.prepare("select * from egresses where organization_id = ? and call_id is null order by id")
      .bind(id)
      .all()
  ).results;

const RECORDED = { status: "egress_ended", error: null, is_stopped: true, ended_at: at(600) };

describe("LiveKit's egress events", () => {
  it("add the recording to the call whose key is the room's sid", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic, { metadata: "" }), anEgressId()];
    await reportCallOf(clinic, room, room.sid);
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

  it("update a recording that the platform has reported, whatever the key of its call", async () => {
    const clinic = await anOrganization();
    const [room, call, egress_id] = [await aLiveKitRoom(clinic), await aCall(clinic), anEgressId()];
    await given(reportEgress(clinic, egress_id, { call_key: call.key, status: "egress_starting" }));
    await delivered(eventsOf(room, egress_id));
    const { egresses } = await given(clinic.client.get(`${call.path}/egresses`));
    expect(egresses).toMatchObject([{ egress_id, ...RECORDED }]);
  });

  it("are accepted as real servers have sent them", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const call = { started_at: "2024-11-15T11:00:00Z", ended_at: "2024-11-15T11:10:00Z" };
    await reportCallOf(clinic, room, room.sid, call);
    const [composite, starting, track] = [anEgressId(), anEgressId(), anEgressId()];
    await delivered([
      compositeStarted(room.name, "RM_another", composite),
      startedWithoutStatus(room.name, "RM_another", starting),
    ]);
    expect(await waiting(clinic)).toMatchObject([
      { egress_id: composite, status: "egress_starting", is_stopped: 0, ended_at: null },
      { egress_id: starting, status: "egress_starting", is_stopped: 0, ended_at: null },
    ]);
    const file = `${clinic.slug}/4aa5307b.webm`;
    // Without a sid, only an earlier event can tell the egress's call.
    await delivered([
      room.egress(track, EgressStatus.EGRESS_STARTING),
      endedWithoutSid(room.name, track).replaceAll("4aa5307b.webm", file),
    ]);
    const { path, egresses } = await recordingsOf(clinic, room);
    expect(egresses).toMatchObject([
      {
        egress_id: track,
        status: "egress_ended",
        error: null,
        ended_at: "2024-11-15T11:09:53.606Z",
        duration: null,
        size: 61941096,
      },
    ]);
    expect((await given(clinic.client.get(`${path}/${egresses[0].id}`))).url).toContain(file);
  });

  it("cost at most two round trips to D1, and one if they change nothing, like events of participants", async () => {
    const clinic = await anOrganization();
    const [room, known] = [await aLiveKitRoom(clinic), await aLiveKitRoom(clinic)];
    await reportCallOf(clinic, known, known.sid);
    const { fetcher, during } = countingRoundTrips();
    const server = aLiveKitServer({ fetcher });
    for (const [each, egress_id] of [
      [room, anEgressId()],
      [known, anEgressId()],
    ] as const)
      for (const event of [...eventsOf(each, egress_id), each.joined("rita", 1, RITA)]) {
        expect(await during(() => delivered([event], server))).toBe(2);
        expect(await during(() => delivered([event], server))).toBe(1);
      }
  });
});

describe("An egress whose call is not reported yet", () => {
  it("waits for the call, hidden from all lists, logs and events", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
    const { next_after } = await given(clinic.client.get("/events"));
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE), room.recorded(egress_id, 600)]);
    expect(await waiting(clinic)).toMatchObject([
      { egress_id, call_key: room.sid, status: "egress_ended", check_at: null },
    ]);
    expect((await given(clinic.client.get(`/events?after=${next_after}`))).events).toEqual([]);
    const entries = "select count(*) as n from egress_audit_logs where organization_id = ?";
    expect(await env.DB.prepare(entries).bind(clinic.id).first()).toEqual({ n: 0 });
    await reportCallOf(clinic, room, room.sid);
    const { events } = await given(clinic.client.get(`/events?after=${next_after}&type=egress.*`));
    expect(events.map(({ type }: { type: string }) => type)).toEqual(["egress.started", "egress.ended"]);
  });

  it.each([
    [
      "LiveKit's own event",
      (_: Organization, room: Room) => delivered([room.joined("rita", 8, RITA), room.finished(590)]),
    ],
    ["the platform's report", (clinic: Organization, room: Room) => reportCallOf(clinic, room, room.sid)],
  ])("is added to the call that appears through %s", async (_, report) => {
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
    expect(await waiting(clinic)).toEqual([]);
  });

  it("is due for a check ten minutes after LiveKit's last event, once its call is reported", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    travelTo(timeAhead());
    const egress_id = anEgressId();
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_ACTIVE)]);
    travelTo(timeAhead("09:33:00.000"));
    await reportCallOf(clinic, room, room.sid);
    const row = await env.DB.prepare("select check_at from egresses where egress_id = ?")
      .bind(egress_id)
      .first();
    expect(row).toEqual({ check_at: Date.parse(timeAhead("09:40:00.000")) });
  });

  it("is added to the call that a later event names", async () => {
    const clinic = await anOrganization();
    const [room, egress_id] = [await aLiveKitRoom(clinic), anEgressId()];
    await delivered([
      room.egress(egress_id, EgressStatus.EGRESS_STARTING, { roomId: "", roomName: `${clinic.slug}--early` }),
    ]);
    await reportCallOf(clinic, room, room.sid);
    expect((await recordingsOf(clinic, room)).egresses).toEqual([]);
    await delivered([room.recorded(egress_id, 600)]);
    expect((await recordingsOf(clinic, room)).egresses).toMatchObject([{ egress_id, ...RECORDED }]);
    expect(await waiting(clinic)).toEqual([]);
  });

  it("belongs to the call that the platform names for it, not to the call of its room", async () => {
    const clinic = await anOrganization();
    const [room, call, egress_id] = [await aLiveKitRoom(clinic), await aCall(clinic), anEgressId()];
    await delivered([room.egress(egress_id, EgressStatus.EGRESS_STARTING)]);
    await call.addEgress({}, egress_id);
    const before = (await given(clinic.client.get(`${call.path}/egresses`))).egresses;
    expect(before).toMatchObject([{ egress_id, status: "egress_ended" }]);
    await reportCallOf(clinic, room, room.sid);
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toEqual(before);
    expect((await recordingsOf(clinic, room)).egresses).toEqual([]);
    expect(await waiting(clinic)).toEqual([]);
  });
});
