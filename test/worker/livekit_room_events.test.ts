import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { callsOf, reportCall, waitingCount } from "./support/calls.ts";
import { countingRoundTrips, rowsOf } from "./support/database.ts";
import {
  aLiveKitRoom,
  aLiveKitServer,
  anEgressId,
  at,
  DisconnectReason,
  delivered,
} from "./support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { changingNothing } from "./support/unchanged.ts";

const PROVIDER = { name: "Paula Provider", attributes: { role: "provider", recording_consent: "true" } };
const RITA = { name: "Rita Recipient", attributes: { recording_consent: "true" } };

/** The rows of an organization's calls and participants, without what differs between two runs. */
async function visitsOf({ id }: Organization) {
  const tables = await rowsOf(id);
  const rows = (table: string) => tables.find(({ name }) => name === table)?.rows ?? [];
  return { calls: rows("calls"), participants: rows("participants") };
}

describe("A room whose metadata says whose visit it is", () => {
  it("reports the whole visit by itself", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const room = await aLiveKitRoom(clinic);
    const { user_id } = room.owner;
    const paula = { ...PROVIDER, attributes: { ...PROVIDER.attributes, user_id: String(user_id) } };
    // Nobody of the organization.
    const stranger = { user_id: String(other.admin.user_id) };
    const rita = { ...RITA, attributes: { ...RITA.attributes, ...stranger } };
    await delivered([room.started(), room.joined("paula", 5, paula), room.joined("rita", 8, rita)]);
    const [ongoing] = await callsOf(clinic, room.owner);
    expect(ongoing).toMatchObject({
      organization_user_id: room.owner.id,
      waiting_room_id: room.waitingRoom.id,
      is_ended: false,
      started_at: at(0),
      ended_at: null,
    });

    await delivered([room.left("rita", 600, 8, rita), room.left("paula", 601, 5, paula), room.finished(602)]);
    const [call] = await callsOf(clinic, room.owner);
    expect(call).toEqual({ ...ongoing, is_ended: true, ended_at: at(602) });
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

  it("has a call with the room's sid as its key, which the platform can report further", async () => {
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

    // Late events take back nothing of it.
    await changingNothing(() =>
      delivered([room.started(), room.joined("rita", 8, RITA), room.finished(600)]),
    );
    const [call] = await callsOf(clinic, colleague);
    const path = `/organization_users/${colleague.id}/calls/${call.id}/transcript`;
    expect((await given(clinic.client.get(path))).transcript_lines).toMatchObject([
      { display_name: "Rita Recipient" },
    ]);
  });

  it("reports to the call of its name, where the platform has reported one", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const { id } = await given(
      reportCall(clinic, room.name, {
        waiting_room_slug: room.waitingRoom.slug,
        organization_user_id: room.owner.id,
        started_at: at(-1),
        participants: [{ key: "paula", display_name: "Paula", role: "provider" }],
      }),
    );
    await delivered([room.started(), room.joined("rita", 8, RITA), room.finished(600)]);
    expect(await callsOf(clinic, room.owner)).toMatchObject([{ id, started_at: at(-1), ended_at: at(600) }]);
    const { participants } = await visitsOf(clinic);
    expect(participants).toMatchObject([
      { key: "paula", call_id: id, left_at: Date.parse(at(600)) },
      { key: "rita", call_id: id, left_at: Date.parse(at(600)) },
    ]);
  });

  it.each([
    ["had ended before the room was made", { started_at: at(-600), ended_at: at(-1) }, false],
    ["ended before they joined", { started_at: at(-600), ended_at: at(309) }, false],
    ["ended after they joined", { started_at: at(-600), ended_at: at(310) }, true],
    ["has no end, and started a day before they joined", { started_at: at(310 - 86_400) }, true],
    ["has no end, and started before that", { started_at: at(309 - 86_400) }, false],
    ["started five minutes after the room was made", { started_at: at(300) }, true],
    ["started later than that", { started_at: at(301) }, false],
  ])("brings people into the call of its name that %s: %s", async (_, times, isOfName) => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const visit = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
    await given(reportCall(clinic, room.name, { ...visit, ...times, participants: [] }));
    await delivered([room.started(), room.joined("rita", 310, RITA), room.left("rita", 320, 310)]);
    const { calls, participants } = await visitsOf(clinic);
    expect(calls.map(({ key }) => key)).toEqual(isOfName ? [room.name] : [room.name, room.sid]);
    expect(participants).toMatchObject([{ key: "rita", call_id: calls.at(-1)?.id }]);
  });

  describe("and whose name an earlier room had, of whose call the end was told late:", () => {
    /** The call of the earlier room, whose end at 300 nobody has told when the later room brings Yasmin at 310. */
    async function aNameUsedAgain() {
      const clinic = await anOrganization();
      const room = await aLiveKitRoom(clinic);
      const visit = { waiting_room_slug: room.waitingRoom.slug, organization_user_id: room.owner.id };
      const report = (call: object) => reportCall(clinic, room.name, { ...visit, ...call });
      const end = async () => given(report({ ended_at: at(300) }));
      const { id } = await given(report({ started_at: at(-600), participants: [] }));
      return { clinic, room, report, end, id };
    }

    const CONSENTS = { attributes: { recording_consent: "true" } };

    const shownOn = async (
      { clinic, room }: { clinic: Organization; room: { owner: { id: number } } },
      id: number,
    ) => {
      const path = `/organization_users/${room.owner.id}/calls/${id}`;
      const [{ participants }, { consents }, { egresses }] = await Promise.all(
        ["participants", "consents", "egresses"].map((list) => given(clinic.client.get(`${path}/${list}`))),
      );
      const names = participants.map(({ display_name }: { display_name: string }) => display_name);
      return { names, consents: consents.length, recordings: egresses.length };
    };

    it("who joined after it is not shown on the call, but on that of their own room", async () => {
      const used = await aNameUsedAgain();
      const { clinic, room, end, id } = used;
      await delivered([room.joined("rita", 200, RITA), room.recorded(anEgressId(), 290)]);
      await delivered([
        room.joined("yasmin", 310, { name: "Yasmin", attributes: { external_reference: "patient-7" } }),
      ]);
      await end();
      // The recording had ended when she came, so it does not wait for her consent.
      expect(await shownOn(used, id)).toEqual({ names: ["Rita Recipient"], consents: 1, recordings: 1 });
      expect((await given(clinic.client.get("/calls?participant_reference=patient-7"))).calls).toEqual([]);
      await delivered([room.left("yasmin", 420, 310), room.finished(430)]);
      const calls: { id: number }[] = await callsOf(clinic, room.owner);
      expect(calls).toHaveLength(2);
      for (const call of calls)
        expect((await shownOn(used, call.id)).names).toEqual([call.id === id ? "Rita Recipient" : "yasmin"]);
    });

    it("who may be in its recording counts for it all the same, and is shown again if the end is corrected", async () => {
      const used = await aNameUsedAgain();
      const { room, report, end, id } = used;
      const refuses = { name: "Yasmin", attributes: { recording_consent: "false" } };
      await delivered([room.joined("rita", 200, CONSENTS), room.joined("yasmin", 310, refuses)]);
      await delivered([room.recorded(anEgressId(), 315)]);
      await end();
      expect(await shownOn(used, id)).toEqual({ names: ["rita"], consents: 1, recordings: 0 });
      await given(report({ ended_at: at(600) }));
      expect(await shownOn(used, id)).toEqual({ names: ["rita", "Yasmin"], consents: 2, recordings: 0 });
    });

    it("who was there before it too, or whom the platform names, is shown", async () => {
      const used = await aNameUsedAgain();
      const { room, report, end, id } = used;
      await delivered([room.joined("yasmin", 310), room.joined("yasmin", 200)]);
      await delivered([room.joined("paula", 310)]);
      await given(report({ participants: [{ key: "paula" }] }));
      await delivered([room.joined("paula", 320)]);
      await end();
      expect((await shownOn(used, id)).names).toEqual(["yasmin", "paula"]);
    });
  });

  it("goes on when the waiting room is renamed", async () => {
    const clinic = await anOrganization();
    const bySid = await aLiveKitRoom(clinic);
    const byName = await aLiveKitRoom(clinic);
    await delivered([bySid.started()]);
    await given(
      reportCall(clinic, byName.name, {
        waiting_room_slug: byName.waitingRoom.slug,
        organization_user_id: byName.owner.id,
        started_at: at(0),
      }),
    );
    for (const room of [bySid, byName]) {
      const path = `/waiting_rooms/${room.waitingRoom.slug}`;
      await given(clinic.client.put(path, { waiting_room: { name: unique("Renamed") } }));
      await delivered([room.joined(unique("rita"), 8, RITA), room.finished(600)]);
      expect(await callsOf(clinic, room.owner)).toMatchObject([{ ended_at: at(600) }]);
    }
    expect((await visitsOf(clinic)).participants).toHaveLength(2);
  });

  it("takes up who waited under the same key, so that the wait counts", async () => {
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
      average_duration: { "2026-01-31": 600 },
      call_fail_rate: { "2026-01-31": 0 },
      average_wait_time: { "2026-01-31": 90 },
    });
  });

  it("has a participant of its own for somebody who has been on another call under the same identity", async () => {
    const clinic = await anOrganization();
    const [first, second] = [await aLiveKitRoom(clinic), await aLiveKitRoom(clinic)];
    await delivered([first.joined("dr-smith", 1, PROVIDER), first.finished(10)]);
    await delivered([second.joined("dr-smith", 20), second.left("dr-smith", 30, 20), second.finished(31)]);
    const { calls, participants } = await visitsOf(clinic);
    expect(participants).toMatchObject([
      { key: "dr-smith", call_id: calls[0]?.id, recording_consent: 1 },
      { key: `${second.sid}:dr-smith`, call_id: calls[1]?.id, recording_consent: null },
    ]);
  });
});

describe("An event that names two organizations", () => {
  it("changes nothing, if the room is of one and the user of another", async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const { slug } = await ours.addRoom();
    const metadata = JSON.stringify({ waiting_room_slug: slug, organization_user_id: theirs.admin.id });
    const room = await aLiveKitRoom(ours, { metadata });
    await changingNothing(() => delivered([room.started(), room.joined("rita", 1), room.finished(10)]));
  });

  it("changes nothing, if the room was another organization's until it was renamed", async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const { slug } = await theirs.addRoom();
    await theirs.addParticipant(slug, { display_name: "Theirs" }, "rita");
    await given(theirs.client.put(`/waiting_rooms/${slug}`, { waiting_room: { name: "Renamed" } }));
    const [known, other] = [await aLiveKitRoom(ours), await aLiveKitRoom(ours)];
    await delivered([known.started()]);
    const { waitingRoom, owner, name } = other;
    const visit = { waiting_room_slug: waitingRoom.slug, organization_user_id: owner.id, started_at: at(0) };
    await given(reportCall(ours, name, visit));
    const metadata = JSON.stringify({ waiting_room_slug: slug, organization_user_id: known.owner.id });
    const byName = await aLiveKitRoom(ours, { metadata, name });
    const bySid = await aLiveKitRoom(ours, { metadata, sid: known.sid });
    await changingNothing(() =>
      delivered([byName, bySid].flatMap((room) => [room.joined("rita", 1, RITA), room.finished(9)])),
    );
  });
});

describe("Events that come twice, late or in another order", () => {
  /** A visit in which somebody comes back with another name and withdraws the consent, and somebody stays to the end. */
  const eventsOf = (room: Awaited<ReturnType<typeof aLiveKitRoom>>) => {
    const withdrawn = { name: "Rita R.", attributes: { recording_consent: "false" } };
    return [
      room.started(),
      room.joined("paula", 5, PROVIDER),
      room.joined("rita", 8, RITA),
      room.left("rita", 100, 8, RITA),
      room.joined("rita", 101, withdrawn),
      room.left("rita", 102, 8, { ...RITA, disconnectReason: DisconnectReason.DUPLICATE_IDENTITY }),
      room.left("rita", 500, 101),
      room.finished(600),
      room.event("track_published", 6, { participant: { identity: "rita" } as never }),
    ];
  };

  /** What a visit leaves behind, in words that two rooms share. */
  async function outcomeOf(
    organization: Organization,
    { sid, owner }: Awaited<ReturnType<typeof aLiveKitRoom>>,
  ) {
    const rows = await env.DB.prepare(
      `select p.key, display_name, role, joined_at, left_at, recording_consent, p.user_id, started_at, ended_at
       from calls c join participants p on p.call_id = c.id where c.key = ? order by p.key`,
    )
      .bind(sid)
      .all();
    const metrics = await given(
      organization.client.get(
        `/call_metrics?date_start=2026-01-31&date_end=2026-01-31&user_id=${owner.user_id}`,
      ),
    );
    return { participants: rows.results, metrics };
  }

  /** A room for somebody who waits for a minute and a half before it opens. */
  async function aRoomWithAWait(organization: Organization) {
    const room = await aLiveKitRoom(organization);
    await organization.addParticipant(room.waitingRoom.slug, { waiting_since: at(-90) }, "rita", {
      reported_at: at(-90),
    });
    return room;
  }

  it("lead to the same call, participants and metrics", { timeout: 60_000 }, async () => {
    const expected = [
      { key: "paula", role: "provider", left_at: Date.parse(at(600)) },
      {
        key: "rita",
        display_name: "Rita R.",
        joined_at: Date.parse(at(101)),
        left_at: Date.parse(at(500)),
        recording_consent: 0,
      },
    ];
    const first = await anOrganization();
    const room = await aRoomWithAWait(first);
    await delivered(eventsOf(room));
    const inOrder = await outcomeOf(first, room);
    expect(inOrder.participants).toMatchObject(expected);
    expect(inOrder.metrics).toMatchObject({
      average_duration: { "2026-01-31": 600 },
      average_wait_time: { "2026-01-31": 90 },
    });

    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 8 }), { maxLength: 9 }), fc.integer(), async (early, seed) => {
        const clinic = await anOrganization();
        const another = await aRoomWithAWait(clinic);
        const events = eventsOf(another);
        const [shuffled] = fc.sample(fc.shuffledSubarray(events, { minLength: events.length }), {
          numRuns: 1,
          seed,
        });
        await delivered([...early.map((n) => events[n] as string), ...(shuffled ?? [])]);
        expect(await outcomeOf(clinic, another)).toEqual(inOrder);
      }),
      { numRuns: 25 },
    );
  });

  it("lead to the same, if thirty come at once, each of them several times", async () => {
    const [one, other] = [await anOrganization(), await anOrganization()];
    const [room, another] = [await aRoomWithAWait(one), await aRoomWithAWait(other)];
    const each = eventsOf(room);
    const events = [each, each, each, each].flat();
    await Promise.all(events.slice(0, 30).map((event) => delivered([event])));
    await delivered(events.slice(30));
    await delivered(eventsOf(another));
    expect(await outcomeOf(one, room)).toEqual(await outcomeOf(other, another));
  });

  it("change nothing when they are repeated", async () => {
    const room = await aLiveKitRoom(await anOrganization());
    await delivered(eventsOf(room));
    await changingNothing(() => delivered(eventsOf(room)));
  });
});

describe("An event costs few round trips to D1:", () => {
  it.each([
    ["the first one of a room", 2, []],
    ["a repeated one", 1, ["joined"]],
  ])("%s, %i", async (_, trips, before) => {
    const room = await aLiveKitRoom(await anOrganization());
    const event = room.joined("rita", 1, RITA);
    const { fetcher, during } = countingRoundTrips();
    const server = aLiveKitServer({ fetcher });
    if (before.length > 0) await delivered([event]);
    expect(await during(() => delivered([event], server))).toBe(trips);
  });

  it("one of a room without metadata, none", async () => {
    const room = await aLiveKitRoom(await anOrganization(), { metadata: "" });
    const { fetcher, during } = countingRoundTrips();
    expect(await during(() => delivered([room.joined("rita", 1)], aLiveKitServer({ fetcher })))).toBe(0);
  });
});
