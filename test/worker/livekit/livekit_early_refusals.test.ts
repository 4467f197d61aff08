import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { reportCall, reportEgress } from "../support/calls.ts";
import {
  aLiveKitRoom,
  aLiveKitServer,
  anEgressId,
  at,
  DisconnectReason,
  delivered,
  EgressStatus,
} from "../support/livekit.ts";
import { aLiveKit, KEY } from "../support/livekit_api.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";

const consentOf = (recording_consent: string) => ({ attributes: { recording_consent } });
const REFUSES = consentOf("false");
const CONSENTS = consentOf("true");
const UNANSWERED = { ...REFUSES, disconnectReason: DisconnectReason.USER_UNAVAILABLE };
const DAY = 24 * 60;

/** Other tests leave egresses that are due for a stop or a check. */
beforeEach(() => env.DB.exec("update egresses set stop_due_at = null, check_at = null"));

/** A recorded room whose metadata creates no call. The platform reports the call itself, with everybody's consent. */
async function aRoomWithoutACall(metadata = "{}") {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic, { metadata });
  const report = (call: object = {}) =>
    given(
      reportCall(clinic, room.sid, {
        waiting_room_slug: room.waitingRoom.slug,
        organization_user_id: room.owner.id,
        started_at: at(0),
        ended_at: at(100),
        participants: ["doctor", "patient"].map((key) => ({
          key,
          display_name: "Somebody",
          role: "recipient",
          recording_consent: true,
        })),
        ...call,
      }),
    );
  async function theCall() {
    const { calls } = await given(clinic.client.get("/calls"));
    return calls[0];
  }
  const recordings = async () => (await theCall()).results.egresses;
  /** The decisions about consent, in the order of the alphabet. */
  async function decisions() {
    const path = `/organization_users/${room.owner.id}/calls/${(await theCall()).id}/consents`;
    const { consents } = await given(clinic.client.get(path));
    return consents.map(({ decision }: { decision: string }) => decision).sort();
  }
  /** The room as LiveKit names it once its metadata is right. */
  const withMetadata = () => aLiveKitRoom(clinic, { sid: room.sid, name: room.name });
  return { clinic, room, report, recordings, decisions, withMetadata };
}

describe("A refusal from LiveKit before its call is known", () => {
  it.each([
    ["no metadata", () => ({})],
    [
      "metadata with an unknown user",
      (waiting_room_slug: string) => ({ waiting_room_slug, organization_user_id: 999_999_999 }),
    ],
  ])("counts once the platform reports the call: in a room with %s", async (_, metadataOf) => {
    const { clinic, room, report, recordings, decisions } = await aRoomWithoutACall();
    const lines = logged();
    const metadata = JSON.stringify(metadataOf(room.waitingRoom.slug));
    const other = await aLiveKitRoom(clinic, { sid: room.sid, name: room.name, metadata });
    await delivered([other.joined("patient", 10, REFUSES), other.recorded(anEgressId(), 60)]);
    await delivered([other.left("patient", 90, 10, REFUSES), other.joined("patient", 10, REFUSES)]);
    // Nothing else in the events was used.
    expect(lines().filter(({ event }) => event === "livekit_event_not_used")).toHaveLength(3);
    await report();
    expect(await recordings()).toBe(0);
    expect(await decisions()).toEqual(["granted", "granted", "withdrawn"]);
  });

  it("hides the recordings until a participant with its key is reported and consents", async () => {
    const { clinic, room, report, recordings } = await aRoomWithoutACall();
    const neighbour = await aRoomWithoutACall();
    await delivered([room.joined("third", 10, REFUSES), room.recorded(anEgressId(), 60)]);
    await delivered([
      neighbour.room.joined("patient", 10, CONSENTS),
      neighbour.room.recorded(anEgressId(), 60),
    ]);
    await report();
    await neighbour.report();
    expect([await recordings(), await neighbour.recordings()]).toEqual([0, 1]);
    travelTo(fromNow(31 * DAY));
    await workerWith({}).runCron();
    expect(await recordings()).toBe(0);
    const third = { key: "third", display_name: "Third", role: "recipient" };
    await report({ participants: [third] });
    expect(await recordings()).toBe(0);
    await report({ participants: [{ ...third, recording_consent: true, recording_consent_at: at(70) }] });
    expect(await recordings()).toBe(1);
    expect((await given(clinic.client.get("/egresses"))).egresses).toHaveLength(1);
  });

  it("counts for a participant who is waiting when the call is reported", async () => {
    const { clinic, room, report, recordings } = await aRoomWithoutACall();
    const { key } = await clinic.addParticipant(room.waitingRoom.slug, { waiting_since: at(-60) }, "patient");
    await delivered([room.joined(key, 10, REFUSES), room.recorded(anEgressId(), 60)]);
    await report();
    expect(await recordings()).toBe(0);
  });

  it("counts for a call that LiveKit's events create later", async () => {
    const { room, recordings, withMetadata } = await aRoomWithoutACall();
    await delivered([room.joined("patient", 10, REFUSES), room.recorded(anEgressId(), 60)]);
    const named = await withMetadata();
    await delivered([
      named.joined("doctor", 5, CONSENTS),
      named.left("doctor", 50, 5, CONSENTS),
      named.finished(90),
    ]);
    expect(await recordings()).toBe(0);
    await delivered([named.left("patient", 80, 10, REFUSES)]);
    expect(await recordings()).toBe(0);
  });

  it.each([
    ["a participant who joined later by the platform's clock", { joined_at: at(13) }, {}],
    ["a call that began later by the platform's clock", {}, { started_at: at(22) }],
  ])("overrides a consent without a time, reported for %s", async (_, patient, call) => {
    const { room, report, recordings } = await aRoomWithoutACall();
    await delivered([room.joined("patient", 10, REFUSES), room.recorded(anEgressId(), 60)]);
    const someone = { display_name: "Somebody", role: "recipient", recording_consent: true };
    const participants = [
      { key: "doctor", ...someone },
      { key: "patient", ...someone, ...patient },
    ];
    await report({ participants, ...call });
    expect(await recordings()).toBe(0);
  });

  it.each([
    ["with its time", { attributes: { recording_consent: "false", recording_consent_at: at(9) } }],
    ["without its time", REFUSES],
  ])("can be repeated once the call is known, %s", async (_, refusal) => {
    const { room, report, recordings, decisions } = await aRoomWithoutACall();
    const joined = room.joined("third", 10, refusal);
    await delivered([joined, room.recorded(anEgressId(), 60)]);
    await report();
    await delivered([joined, room.left("third", 80, 10, refusal), joined]);
    expect(await recordings()).toBe(0);
    expect(await decisions()).toEqual(["granted", "granted", "refused"]);
  });

  it("is kept as long as a recording of the room can still get a call", async () => {
    const { room, report, recordings } = await aRoomWithoutACall();
    await delivered([room.joined("patient", 10, REFUSES)]);
    travelTo(fromNow(DAY));
    await delivered([room.recorded(anEgressId(), 60)]);
    travelTo(fromNow(30.5 * DAY));
    await workerWith({}).runCron();
    await report();
    expect(await recordings()).toBe(0);
  });

  it("stores only digests of the keys", async () => {
    const { room } = await aRoomWithoutACall();
    await delivered([room.joined("rita.recipient@example.com", 10, REFUSES)]);
    const { results } = await env.DB.prepare("select * from early_refusals").all();
    expect(results.length).toBeGreaterThan(0);
    expect(JSON.stringify(results)).not.toContain("rita");
  });

  it("does not keep a call without participants", async () => {
    const { clinic, room, withMetadata } = await aRoomWithoutACall();
    await delivered([room.joined("third", 10, REFUSES)]);
    const named = await withMetadata();
    await delivered([
      named.joined("phone", 20),
      named.left("phone", 40, 20, { ...UNANSWERED, attributes: {} }),
    ]);
    expect((await given(clinic.client.get("/calls"))).calls).toEqual([]);
  });

  it.each([
    ["before the call is known", ["joined", "left", "call"]],
    ["before the call is known, out of order", ["left", "joined", "call"]],
    ["after the call is known", ["joined", "call", "left"]],
  ] as const)("does not count if LiveKit reports %s that the person never came", async (_, order) => {
    const { room, report, recordings } = await aRoomWithoutACall();
    await delivered([room.recorded(anEgressId(), 60)]);
    const steps = {
      joined: () => delivered([room.joined("phone", 10, REFUSES)]),
      left: () => delivered([room.left("phone", 40, 10, UNANSWERED)]),
      call: report,
    };
    for (const step of order) {
      if (step === "left" && order[1] === "call") expect(await recordings()).toBe(0);
      await steps[step]();
    }
    expect(await recordings()).toBe(1);
  });

  it.each([
    ["in order", (events: string[]) => events],
    ["out of order", (events: string[]) => events.toReversed()],
  ])("counts on a failed connection if the person came on another one: events %s", async (_, ordered) => {
    const { recordings, withMetadata } = await aRoomWithoutACall();
    const named = await withMetadata();
    const failed = { ...REFUSES, disconnectReason: DisconnectReason.JOIN_FAILURE };
    await delivered(ordered([named.joined("rita", 10, CONSENTS), named.left("rita", 30, 20, failed)]));
    await delivered([
      named.recorded(anEgressId(), 60),
      named.left("rita", 80, 10, CONSENTS),
      named.finished(90),
    ]);
    expect(await recordings()).toBe(0);
  });

  it("is a single decision if a failed connection repeats it", async () => {
    const { report, decisions, withMetadata } = await aRoomWithoutACall();
    const named = await withMetadata();
    const attributes = { recording_consent: "false", recording_consent_at: at(5) };
    const failed = { attributes, disconnectReason: DisconnectReason.JOIN_FAILURE };
    await delivered([
      named.joined("patient", 10, { attributes }),
      named.left("patient", 20, 10, failed),
      named.left("patient", 40, 30, failed),
      named.joined("patient", 50),
    ]);
    await report({ participants: [{ key: "patient", display_name: "Rita", role: "recipient" }] });
    await delivered([named.left("patient", 60, 50)]);
    expect(await decisions()).toEqual(["refused"]);
  });

  it("stops a recording that the platform reports", async () => {
    const livekit = aLiveKit();
    const { clinic, room, report } = await aRoomWithoutACall();
    const platform = clinic.platform.through(livekit.service(KEY).fetcher);
    const egress = anEgressId();
    livekit.egress(egress, EgressStatus.EGRESS_ACTIVE, { roomId: room.sid, roomName: room.name });
    await delivered([room.joined("third", 10, REFUSES)]);
    await report({ ended_at: null });
    await given(reportEgress({ platform }, egress, { call_key: room.sid, status: "egress_active" }));
    expect(livekit.stopped).toEqual([egress]);
  });

  it("is deleted after thirty days if the call is never reported", async () => {
    const { clinic, room } = await aRoomWithoutACall();
    await delivered([room.joined("patient", 10, REFUSES)]);
    const kept = () =>
      env.DB.prepare("select count(*) as n from early_refusals where organization_id = ?")
        .bind(clinic.id)
        .first("n");
    travelTo(fromNow(29 * DAY));
    await workerWith({}).runCron();
    expect(await kept()).toBe(1);
    travelTo(fromNow(31 * DAY));
    await workerWith({}).runCron();
    expect(await kept()).toBe(0);
  });

  it.each([
    ["that runs already", true],
    ["that begins later", false],
  ])("stops an egress of the room %s", async (_, runsBefore) => {
    const livekit = aLiveKit();
    const { room } = await aRoomWithoutACall();
    const egress = anEgressId();
    livekit.egress(egress, EgressStatus.EGRESS_ACTIVE, { roomId: room.sid, roomName: room.name });
    const { fetcher } = livekit.service(KEY);
    const key = { key: KEY.LIVEKIT_API_KEY, secret: KEY.LIVEKIT_API_SECRET };
    const events = [room.joined("patient", 10, REFUSES), room.egress(egress, EgressStatus.EGRESS_ACTIVE)];
    await delivered(runsBefore ? events.reverse() : events, aLiveKitServer({ key, fetcher }));
    expect(livekit.stopped).toEqual([egress]);
  });
});
