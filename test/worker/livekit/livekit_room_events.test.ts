import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { callsOf, reportCall, waitingCount } from "../support/calls.ts";
import { countingRoundTrips, rowsOf } from "../support/database.ts";
import { aLiveKitRoom, aLiveKitServer, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const PROVIDER = { name: "Paula Provider", attributes: { role: "provider", recording_consent: "true" } };
const RITA = { name: "Rita Recipient", attributes: { recording_consent: "true" } };

async function visitsOf({ id }: Organization) {
  const tables = await rowsOf(id);
  const rows = (table: string) => tables.find(({ name }) => name === table)?.rows ?? [];
  const people = new Map(rows("people").map((person) => [person.id, person]));
  const participants = rows("participants").map((each) => ({ ...people.get(each.person_id), ...each }));
  return { calls: rows("calls"), participants };
}

describe("A LiveKit room whose metadata names a waiting room and an owner", () => {
  it("reports the whole call by its events", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const room = await aLiveKitRoom(clinic);
    const { user_id } = room.owner;
    const paula = { ...PROVIDER, attributes: { ...PROVIDER.attributes, user_id: String(user_id) } };
    // A user of another organization.
    const stranger = { user_id: String(other.admin.user_id) };
    const rita = { ...RITA, attributes: { ...RITA.attributes, ...stranger } };
    await delivered([room.started(), room.joined("paula", 5, paula), room.joined("rita", 8, rita)]);
    const [ongoing] = await callsOf(clinic, room.owner);
    expect(ongoing).toMatchObject({
      organization_user_id: room.owner.id,
      waiting_room_id: room.waitingRoom.id,
      is_ended: false,
      started_at: at(5),
      ended_at: null,
    });

    await delivered([room.left("rita", 600, 8, rita), room.left("paula", 601, 5, paula), room.finished(602)]);
    const [call] = await callsOf(clinic, room.owner);
    expect(call).toEqual({ ...ongoing, is_ended: true, ended_at: at(601) });
    const { participants } = await visitsOf(clinic);
    expect(participants).toMatchObject([
      {
        key: "paula",
        display_name: "Paula Provider",
        role: "provider",
        user_id,
        call_id: call.id,
        recording_consent: 1,
      },
      {
        key: "rita",
        display_name: "Rita Recipient",
        role: "recipient",
        user_id: null,
        call_id: call.id,
        recording_consent: 1,
      },
    ]);
    expect(participants.map(({ left_at }) => new Date(left_at as number).toISOString())).toEqual([
      at(601),
      at(600),
    ]);
  });

  it("creates a call with the room's sid as its key, which the platform can report further", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    await delivered([room.started(), room.joined("rita", 8, RITA), room.finished(600)]);
    const colleague = await clinic.addProvider();
    await given(reportCall(clinic, room.sid, { organization_user_id: colleague.id, failed: true }));
    const lines = [{ participant_key: "rita", text: "Good morning.", start_time: 0, end_time: 1 }];
    await given(
      platform.put(`${room.url}/transcript`, {
        transcript: { summary: "A greeting.", is_final: true, lines },
      }),
    );

    // Late events do not undo the platform's report.
    await changingNothing(() =>
      delivered([room.started(), room.joined("rita", 8, RITA), room.finished(600)]),
    );
    const [call] = await callsOf(clinic, colleague);
    const path = `/organization_users/${colleague.id}/calls/${call.id}/transcript`;
    expect((await given(clinic.client.get(path))).transcript_lines).toMatchObject([
      { display_name: "Rita Recipient" },
    ]);
  });

  it("takes a waiting participant with the same key onto the call, so that the wait counts", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    await clinic.addParticipant(
      room.waitingRoom.slug,
      { waiting_since: at(-90), display_name: "Rita" },
      "rita",
    );
    const waiting = () => waitingCount(clinic, room.waitingRoom.slug);
    expect(await waiting()).toBe(1);
    await delivered([room.joined("rita", 8, { attributes: RITA.attributes })]);
    expect(await waiting()).toBe(0);
    await delivered([room.finished(600)]);
    expect((await visitsOf(clinic)).participants).toMatchObject([
      { key: "rita", display_name: "Rita", waiting_since: Date.parse(at(-90)), joined_at: Date.parse(at(8)) },
    ]);
    const metrics = await given(clinic.client.get("/call_metrics?date_start=2026-01-31&date_end=2026-01-31"));
    expect(metrics).toEqual({
      total_calls: { "2026-01-31": 1 },
      average_duration: { "2026-01-31": 592 },
      call_fail_rate: { "2026-01-31": 0 },
      average_wait_time: { "2026-01-31": 98 },
    });
  });
});

describe("A LiveKit event that names two organizations", () => {
  it("changes nothing if the waiting room and the user belong to different organizations", async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const { slug } = await ours.addRoom();
    const metadata = JSON.stringify({ waiting_room_slug: slug, organization_user_id: theirs.admin.id });
    const room = await aLiveKitRoom(ours, { metadata });
    await changingNothing(() => delivered([room.started(), room.joined("rita", 1), room.left("rita", 9, 1)]));
  });

  it("changes nothing if the slug belonged to another organization's room before a rename", async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const { slug } = await theirs.addRoom();
    await theirs.addParticipant(slug, { display_name: "Theirs" }, "rita");
    await given(theirs.client.put(`/waiting_rooms/${slug}`, { waiting_room: { name: "Renamed" } }));
    const { owner } = await aLiveKitRoom(ours);
    const metadata = JSON.stringify({ waiting_room_slug: slug, organization_user_id: owner.id });
    const room = await aLiveKitRoom(ours, { metadata });
    await changingNothing(() => delivered([room.joined("rita", 1, RITA), room.left("rita", 9, 1)]));
  });
});

it("A LiveKit event costs at most two round trips to D1", async () => {
  const clinic = await anOrganization();
  const [room, unnamed] = [await aLiveKitRoom(clinic), await aLiveKitRoom(clinic, { metadata: "" })];
  const { fetcher, during } = countingRoundTrips();
  const server = aLiveKitServer({ fetcher });
  const first = room.joined("rita", 1, RITA);
  for (const [event, trips] of [
    [first, 2],
    [first, 1],
    // The platform may have reported the call of a room without metadata.
    [unnamed.joined("rita", 1), 1],
    [unnamed.started(), 0],
  ] as const)
    expect(await during(() => delivered([event], server))).toBe(trips);
});
