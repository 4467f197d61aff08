import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { callsOf, knownParticipant, reportCall, waitingCount } from "../support/calls.ts";
import {
  aLiveKitRoom,
  anEgressId,
  at,
  DisconnectReason,
  delivered,
  EgressStatus,
  shownCalls,
} from "../support/livekit.ts";
import { logged } from "../support/logged.ts";
import { anOrganization, given } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const CONSENTS = { attributes: { recording_consent: "true" } };
const REFUSES = { attributes: { recording_consent: "false" } };

async function aRoom(fields: Parameters<typeof aLiveKitRoom>[1] = {}) {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic, fields);
  return { clinic, room, shown: () => shownCalls(clinic, room) };
}

describe("A LiveKit room whose metadata names a waiting room and an owner", () => {
  it("reports the whole call by its events, and no user of another organization", async () => {
    const { room, shown } = await aRoom();
    const { user_id } = room.owner;
    const stranger = (await anOrganization()).admin.user_id;
    const attributes = { recording_consent: "true" };
    const paula = { name: "Paula", attributes: { ...attributes, role: "provider", user_id: `${user_id}` } };
    const rita = { name: "Rita", attributes: { ...attributes, user_id: `${stranger}` } };
    await delivered([room.started(), room.joined("paula", 5, paula), room.joined("rita", 8, rita)]);
    const call = { waiting_room_id: room.waitingRoom.id, started_at: at(5) };
    expect(await shown()).toMatchObject([{ ...call, is_ended: false, ended_at: null }]);
    await delivered([room.left("rita", 600, 8, rita), room.left("paula", 601, 5, paula), room.finished(602)]);
    const participants = [
      { display_name: "Paula", role: "provider", left_at: at(601), recording_consent: true },
      { display_name: "Rita", role: "recipient", left_at: at(600), recording_consent: true },
    ];
    expect(await shown()).toMatchObject([{ ...call, is_ended: true, ended_at: at(601), participants }]);
    expect((await knownParticipant(room.waitingRoom.slug, "paula")).user_id).toBe(user_id);
    expect((await knownParticipant(room.waitingRoom.slug, "rita")).user_id).toBeNull();
  });

  it("creates a call with the room's sid as its key, which the platform can report further", async () => {
    const { clinic, room } = await aRoom();
    const events = [room.started(), room.joined("rita", 8, { name: "Rita" }), room.finished(600)];
    await delivered(events);
    const colleague = await clinic.addProvider();
    await given(reportCall(clinic, room.sid, { organization_user_id: colleague.id, failed: true }));
    const lines = [{ participant_key: "rita", text: "Good morning.", start_time: 0, end_time: 1 }];
    await given(platform.put(`${room.url}/transcript`, { transcript: { is_final: true, lines } }));
    // Late events do not undo the platform's report.
    await changingNothing(() => delivered(events));
    const [call] = await callsOf(clinic, colleague);
    const path = `/organization_users/${colleague.id}/calls/${call.id}/transcript`;
    expect((await given(clinic.client.get(path))).transcript_lines).toMatchObject([{ display_name: "Rita" }]);
  });

  it("takes a waiting participant with the same key onto the call", async () => {
    const { clinic, room, shown } = await aRoom();
    const { slug } = room.waitingRoom;
    await clinic.addParticipant(slug, { waiting_since: at(-90), display_name: "Rita" }, "rita");
    expect(await waitingCount(clinic, slug)).toBe(1);
    await delivered([room.joined("rita", 8, CONSENTS)]);
    expect(await waitingCount(clinic, slug)).toBe(0);
    const rita = { display_name: "Rita", waiting_since: at(-90), joined_at: at(8) };
    expect(await shown()).toMatchObject([{ participants: [rita] }]);
  });
});

describe("The metadata of a LiveKit room", () => {
  it("may change during the call: later refusals still hide the recording, and the call still ends", async () => {
    const { clinic, room, shown } = await aRoom();
    const egress = anEgressId();
    await delivered([
      room.joined("doctor", 1, CONSENTS),
      room.joined("patient", 2, CONSENTS),
      room.egress(egress, EgressStatus.EGRESS_ACTIVE),
    ]);
    const { sid, name } = room;
    const later = await aLiveKitRoom(clinic, { sid, name, metadata: '{"recording":"on"}' });
    await delivered([
      later.joined("third", 60, REFUSES),
      later.left("patient", 90, 2, REFUSES),
      later.left("third", 95, 60, REFUSES),
      later.left("doctor", 100, 1, CONSENTS),
      later.recorded(egress, 105),
      later.finished(120),
    ]);
    expect(await shown()).toMatchObject([
      {
        is_ended: true,
        started_at: at(1),
        ended_at: at(100),
        recordings: 0,
        participants: [
          { display_name: "doctor", recording_consent: true },
          { display_name: "patient", recording_consent: false },
          { display_name: "third", recording_consent: false },
        ],
      },
    ]);
  });

  it("is not needed if the platform has reported the call under the room's sid", async () => {
    const { clinic, room, shown } = await aRoom({ metadata: "" });
    await given(
      reportCall(clinic, room.sid, {
        waiting_room_slug: room.waitingRoom.slug,
        organization_user_id: room.owner.id,
        started_at: at(-5),
        participants: [{ key: "rita", display_name: "Rita", role: "recipient" }],
      }),
    );
    await delivered([room.joined("rita", 8, REFUSES), room.left("rita", 50, 8), room.finished(60)]);
    expect(await shown()).toMatchObject([
      {
        started_at: at(-5),
        ended_at: at(50),
        participants: [{ display_name: "Rita", joined_at: at(8), left_at: at(50), recording_consent: false }],
      },
    ]);
  });

  it("identifies a call only by the room's sid: a call whose key is the room's name stays as it is", async () => {
    const { clinic, room, shown } = await aRoom();
    const { waitingRoom, owner } = room;
    const visit = { waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id, started_at: at(0) };
    await given(reportCall(clinic, room.name, visit));
    await delivered([room.joined("rita", 8), room.recorded(anEgressId(), 20), room.left("rita", 50, 8)]);
    expect(await shown()).toMatchObject([
      { started_at: at(8), participants: [{ display_name: "rita" }] },
      { started_at: at(0), participants: [] },
    ]);
  });

  it.each<[string, (own: { id: number }) => object]>([
    ["the owner's id as a string", ({ id }) => ({ organization_user_id: String(id) })],
    ["a number as the reference", ({ id }) => ({ organization_user_id: id, external_reference: 10482 })],
  ])("may have %s", async (_, fieldsFor) => {
    const { clinic, room } = await aRoom();
    const fields = { waiting_room_slug: room.waitingRoom.slug, ...fieldsFor(room.owner) };
    const { joined } = await aLiveKitRoom(clinic, { metadata: JSON.stringify(fields) });
    const lines = logged();
    await delivered([joined("rita", 8)]);
    const [call] = await callsOf(clinic, room.owner);
    const { external_reference } = await given(
      clinic.client.get(`/organization_users/${room.owner.id}/calls/${call.id}`),
    );
    expect(external_reference).toBe("external_reference" in fields ? "10482" : null);
    expect(lines().filter(({ event }) => event !== "request")).toEqual([]);
  });

  it("may name a former slug of the waiting room", async () => {
    const { clinic, room, shown } = await aRoom();
    const path = `/waiting_rooms/${room.waitingRoom.slug}`;
    await given(clinic.client.put(path, { waiting_room: { name: "Renamed" } }));
    await delivered([room.joined("rita", 8)]);
    expect(await shown()).toMatchObject([{ waiting_room_id: room.waitingRoom.id }]);
  });

  it("is used without its invalid fields, whose names are logged", async () => {
    const { clinic, room } = await aRoom();
    const fields = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
    const metadata = JSON.stringify({ ...fields, external_reference: { id: 7 } });
    const { joined } = await aLiveKitRoom(clinic, { metadata });
    const lines = logged();
    await delivered([joined("rita", 8, { attributes: { user_id: "999999999", role: "nurse" } })]);
    expect(await callsOf(clinic, room.owner)).toHaveLength(1);
    expect(lines()).toContainEqual(
      expect.objectContaining({
        event: "livekit_fields_not_used",
        fields: "role external_reference user_id",
      }),
    );
  });
});

describe("A call from LiveKit's events", () => {
  const UNANSWERED = { disconnectReason: DisconnectReason.USER_UNAVAILABLE };

  it("drops a phone caller who never came, with their refusal", async () => {
    const { room, shown } = await aRoom();
    const phone = { kind: 3, ...REFUSES } as never;
    await delivered([
      room.joined("phone", 5, phone),
      room.joined("rita", 10, CONSENTS),
      room.recorded(anEgressId(), 50),
      room.left("phone", 35, 5, { ...REFUSES, ...UNANSWERED }),
      room.left("rita", 60, 10, CONSENTS),
      room.finished(80),
    ]);
    expect(await shown()).toMatchObject([
      { started_at: at(10), ended_at: at(60), recordings: 1, participants: [{ display_name: "rita" }] },
    ]);
    // Late and repeated events bring nobody back.
    await delivered([room.joined("phone", 5, phone), room.left("phone", 35, 5, UNANSWERED)]);
    expect(await shown()).toMatchObject([{ participants: [{ display_name: "rita" }] }]);
  });
});

describe("recording_consent in LiveKit's events", () => {
  const said = (recording_consent: string, recording_consent_at = "") => ({
    attributes: { recording_consent, recording_consent_at },
  });

  it("refuses with any text but true after a consent, which is logged", async () => {
    const { room, shown } = await aRoom();
    const lines = logged();
    await delivered([room.joined("rita", 10, said("True")), room.left("rita", 60, 10, said("yes"))]);
    expect(await shown()).toMatchObject([{ participants: [{ recording_consent: false }] }]);
    expect(lines().filter(({ event }) => event !== "request")).toEqual([
      expect.objectContaining({ event: "livekit_consent_unclear", room_sid: room.sid }),
    ]);
  });
});
