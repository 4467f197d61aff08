import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { reportCall, reportEgress } from "../support/calls.ts";
import { aLiveKitRoom, aLiveKitServer, anEgressId, delivered, EgressStatus } from "../support/livekit.ts";
import { aLiveKit, claimsOf, KEY, twirp } from "../support/livekit_api.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";

const { EGRESS_ACTIVE, EGRESS_COMPLETE } = EgressStatus;
const CONSENTS = { attributes: { recording_consent: "true" } };
const REFUSES = { attributes: { recording_consent: "false" } };

/** Other tests leave egresses that are due for a stop or a check. */
beforeEach(() => env.DB.exec("update egresses set stop_due_at = null, check_at = null"));

/** A call of two people who consent, recorded by LiveKit, and a service that knows LiveKit's address. */
async function aRecordedCall(livekit: ReturnType<typeof aLiveKit>) {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic);
  const egress = anEgressId();
  livekit.egress(egress, EGRESS_ACTIVE, { roomId: room.sid, roomName: room.name });
  const { fetcher } = livekit.service(KEY);
  const key = { key: KEY.LIVEKIT_API_KEY, secret: KEY.LIVEKIT_API_SECRET };
  const server = aLiveKitServer({ key, fetcher });
  const send = (...events: string[]) => delivered(events, server);
  const platform = clinic.platform.through(fetcher);
  const report = (call: object) => given(reportCall({ platform }, room.sid, call));
  const reportEgressOf = (id: string, fields: object) => given(reportEgress({ platform }, id, fields));
  await send(
    room.joined("doctor", 1, CONSENTS),
    room.joined("patient", 2, CONSENTS),
    room.egress(egress, EGRESS_ACTIVE),
  );
  return { clinic, room, egress, send, report, reportEgress: reportEgressOf };
}

describe("A refusal during a call stops its running egresses", () => {
  it("right after LiveKit's event, once", async () => {
    const livekit = aLiveKit();
    const [call, other] = [await aRecordedCall(livekit), await aRecordedCall(livekit)];
    const lines = logged();
    const refusal = call.room.left("patient", 60, 2, REFUSES);
    await call.send(refusal);
    expect(livekit.stopped).toEqual([call.egress]);
    expect(lines()).toContainEqual(expect.objectContaining({ event: "egress_stopped" }));
    const [request] = livekit.requests;
    if (!request) throw new Error("LiveKit was not asked");
    expect(request.url).toBe("https://livekit.example/twirp/livekit.Egress/StopEgress");
    expect(await claimsOf(request)).toMatchObject({ video: { roomRecord: true } });
    await call.send(refusal, call.room.joined("patient", 90, REFUSES));
    await livekit.runCron();
    expect(livekit.stopped).toEqual([call.egress]);
    await other.send(other.room.left("doctor", 70, 1, CONSENTS));
    expect(livekit.stopped).toEqual([call.egress]);
  });

  it("right after the platform's report", async () => {
    const livekit = aLiveKit();
    const { egress, report } = await aRecordedCall(livekit);
    await report({ failed: true, participants: [{ key: "doctor", recording_consent: true }] });
    expect(livekit.stopped).toEqual([]);
    await report({ participants: [{ key: "patient", recording_consent: false }] });
    expect(livekit.stopped).toEqual([egress]);
  });

  it.each([
    ["is down", () => twirp.error(503, "unavailable")],
    ["refuses the token", () => twirp.error(401, "unauthenticated")],
    ["is another service", () => new Response("404 page not found", { status: 404 })],
    ["answers a proxy's page", () => new Response("<!doctype html><title>Log in</title>")],
    ["answers a proxy's JSON", () => Response.json({ status: "ok" })],
    ["answers with another egress", () => Response.json({ egress_id: "EG_other", status: "EGRESS_ENDING" })],
  ])("in a later run of the cron, if LiveKit %s", async (_, answer) => {
    const livekit = aLiveKit();
    const { room, egress, send } = await aRecordedCall(livekit);
    livekit.otherAnswer = answer;
    await send(room.left("patient", 60, 2, REFUSES));
    // Reports do not ask a faulty LiveKit again and again.
    await send(room.left("doctor", 70, 1, CONSENTS));
    expect(livekit.stopped).toEqual([egress]);
    travelTo(fromNow(5));
    await livekit.runCron();
    expect(livekit.stopped).toEqual([egress, egress]);
    livekit.otherAnswer = undefined;
    travelTo(fromNow(5));
    await livekit.runCron();
    await livekit.runCron();
    expect(livekit.stopped).toEqual([egress, egress, egress]);
  });

  it.each(["LiveKit", "the platform"])("at once if it begins later, as %s reports", async (reporter) => {
    const livekit = aLiveKit();
    const { room, egress, send, reportEgress } = await aRecordedCall(livekit);
    await send(room.left("patient", 60, 2, REFUSES));
    const later = anEgressId();
    livekit.egress(later, EGRESS_ACTIVE, { roomId: room.sid, roomName: room.name });
    if (reporter === "LiveKit") await send(room.egress(later, EGRESS_ACTIVE));
    else await reportEgress(later, { call_key: room.sid, status: "egress_active" });
    expect(livekit.stopped).toEqual([egress, later]);
  });

  it("unless they have ended, belong to another organization, or are unknown to LiveKit", async () => {
    const livekit = aLiveKit();
    const calls = await Promise.all([1, 2, 3].map(() => aRecordedCall(livekit)));
    const [ended, foreign, unknown] = calls as [(typeof calls)[0], (typeof calls)[0], (typeof calls)[0]];
    livekit.egress(ended.egress, EGRESS_COMPLETE, { roomId: ended.room.sid, roomName: ended.room.name });
    livekit.egress(foreign.egress, EGRESS_ACTIVE, { roomName: unknown.room.name });
    livekit.forget(unknown.egress);
    for (const { room, send } of calls) await send(room.left("patient", 60, 2, REFUSES));
    await livekit.runCron();
    expect(livekit.stopped).toEqual([]);
  });

  it("only if LiveKit's address is set", async () => {
    const livekit = aLiveKit();
    const { clinic, room } = await aRecordedCall(livekit);
    const participants = [{ key: "patient", recording_consent: false }];
    await given(reportCall(clinic, room.sid, { participants }));
    await livekit.runCron({ LIVEKIT_URL: undefined });
    expect(livekit.stopped).toEqual([]);
  });
});

describe("A LiveKit room that is gone without room_finished", () => {
  const callsOf = async ({ clinic, room }: Awaited<ReturnType<typeof aRecordedCall>>) =>
    (await given(clinic.client.get(`/organization_users/${room.owner.id}/calls`))).calls;

  it("ends its silent call at the latest known time, while the calls of open rooms stay open", async () => {
    const livekit = aLiveKit();
    travelTo(fromNow(0));
    const [gone, open] = [await aRecordedCall(livekit), await aRecordedCall(livekit)];
    await gone.send(gone.room.left("patient", 60, 2, CONSENTS), gone.room.recorded(gone.egress, 70));
    livekit.rooms = [open.room.sid];
    travelTo(fromNow(9.9));
    await livekit.runCron();
    expect(await callsOf(gone)).toMatchObject([{ is_ended: false }]);
    expect(livekit.roomsAsked).toBeLessThanOrEqual(1);
    travelTo(fromNow(0.2));
    const asked = livekit.roomsAsked;
    await livekit.runCron();
    expect(livekit.roomsAsked).toBe(asked + 1);
    const [call] = await callsOf(gone);
    expect(call).toMatchObject({ is_ended: true, ended_at: "2026-01-31T09:31:10.000Z" });
    const path = `/organization_users/${gone.room.owner.id}/calls/${call.id}`;
    expect(await given(gone.clinic.client.get(path))).toMatchObject({ ended_by: "assumed" });
    expect(await callsOf(open)).toMatchObject([{ is_ended: false }]);
    const request = livekit.requests.at(-1);
    if (!request) throw new Error("LiveKit was not asked");
    expect(request.url).toBe("https://livekit.example/twirp/livekit.RoomService/ListRooms");
    expect(await claimsOf(request)).toMatchObject({ video: { roomList: true } });
    // The room's own event arrives after all.
    await gone.send(gone.room.left("doctor", 80, 1, CONSENTS), gone.room.finished(90));
    expect(await callsOf(gone)).toMatchObject([{ ended_at: "2026-01-31T09:31:20.000Z" }]);
  });

  it("does not end a call of which LiveKit has sent no event", async () => {
    const livekit = aLiveKit();
    travelTo(fromNow(0));
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const visit = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
    await given(reportCall(clinic, "another-backend", { ...visit, started_at: fromNow(-1) }));
    travelTo(fromNow(11));
    await livekit.runCron();
    const { calls } = await given(clinic.client.get(`/organization_users/${room.owner.id}/calls`));
    expect(calls).toMatchObject([{ is_ended: false }]);
  });

  it.each([
    ["is down", () => twirp.error(503, "unavailable"), "not_ok"],
    ["answers rooms without a sid", () => Response.json({ rooms: [{ name: "room" }] }), "malformed"],
    ["answers a proxy's JSON", () => Response.json({ status: "ok" }), "malformed"],
  ])("leaves its call open while LiveKit %s", async (_, answer, reason) => {
    const livekit = aLiveKit();
    travelTo(fromNow(0));
    const call = await aRecordedCall(livekit);
    await call.send(call.room.recorded(call.egress, 70));
    livekit.otherAnswer = answer;
    travelTo(fromNow(11));
    const lines = logged();
    await livekit.runCron();
    expect(await callsOf(call)).toMatchObject([{ is_ended: false }]);
    expect(lines()).toContainEqual(expect.objectContaining({ event: "livekit_unavailable", reason }));
  });
});
