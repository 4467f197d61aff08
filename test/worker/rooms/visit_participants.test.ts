import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import {
  aCall,
  aProviderOnTheCall,
  aRecipient,
  ENDED_AT,
  STARTED_AT,
  WAITING_SINCE,
} from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";

describe("GET .../calls/{call_id}/participants", () => {
  it("lists participants by id with times, references and consent, even during the call", async () => {
    const clinic = await anOrganization();
    const { user_id } = await clinic.addProvider();
    const participants = [
      aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT, external_reference: "patient-4711" }),
      aProviderOnTheCall({ user_id, joined_at: STARTED_AT, recording_consent: undefined }),
    ];
    const call = await aCall(clinic, { participants, ended_at: null });
    const rita = {
      id: expect.any(Number),
      role: "recipient",
      user_id: null,
      display_name: "Rita Recipient",
      external_reference: "patient-4711",
      waiting_since: WAITING_SINCE,
      joined_at: STARTED_AT,
      left_at: null,
      recording_consent: true,
    };
    const paula = {
      ...rita,
      role: "provider",
      user_id,
      display_name: "Paula Provider",
      external_reference: null,
      waiting_since: null,
      recording_consent: null,
    };
    const list = () => given(clinic.client.get(`${call.path}/participants`));
    const goingOn = await list();
    expect(goingOn).toEqual({ participants: [rita, paula] });
    expect(goingOn.participants[0].id).toBeLessThan(goingOn.participants[1].id);
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await list()).toEqual({
      participants: [rita, paula].map((each) => ({ ...each, left_at: ENDED_AT })),
    });
  });

  it("lists nobody if nobody came, and never the participants of another call", async () => {
    const clinic = await anOrganization();
    await aCall(clinic);
    const call = await aCall(clinic, { participants: [] });
    expect(await given(clinic.client.get(`${call.path}/participants`))).toEqual({ participants: [] });
  });
});

const waitingIn = async (client: Organization["client"], slug: string) =>
  (await given(client.get(`/waiting_rooms/${slug}/participants`))).participants as Record<string, unknown>[];

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

describe("GET /waiting_rooms/{slug}/participants", () => {
  it("lists the waiting participants, longest first, until they leave or join a call", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    const rita = await clinic.addParticipant(slug, {
      waiting_since: minutesAgo(5),
      external_reference: "patient-4711",
    });
    const sooner = await clinic.addParticipant(slug, { waiting_since: minutesAgo(9), role: "provider" });
    const alike = await clinic.addParticipant(slug, { waiting_since: rita.waiting_since });
    const elsewhere = await clinic.addRoom();
    await clinic.addParticipant(elsewhere.slug);
    const ids = async () => (await waitingIn(clinic.client, slug)).map(({ id }) => id);
    expect(await ids()).toEqual([sooner.id, rita.id, alike.id]);
    expect((await waitingIn(clinic.client, slug))[1]).toEqual({
      id: rita.id,
      role: "recipient",
      user_id: null,
      display_name: "Rita Recipient",
      external_reference: "patient-4711",
      visit_id: null,
      waiting_since: rita.waiting_since,
    });
    const leaves = { participant: { left_at: minutesAgo(1) } };
    await given(platform.put(`/waiting_rooms/${slug}/participants/${alike.key}`, leaves));
    await aCall(clinic, { participants: [{ key: rita.key }], ended_at: null });
    expect(await ids()).toEqual([sooner.id]);
  });

  it("lists as many participants as waiting_count says", async () => {
    const clinic = await anOrganization();
    const { slug } = await clinic.addRoom();
    for (let n = 0; n < 3; n++) {
      expect(await waitingIn(clinic.client, slug)).toHaveLength(n);
      expect((await given(clinic.client.get(`/waiting_rooms/${slug}`))).waiting_count).toBe(n);
      await clinic.addParticipant(slug);
    }
  });

  it("serves an organization's room to all its clients, and a personal room to those who reach its owner", async () => {
    const clinic = await anOrganization();
    const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
    const assistant = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const room = await clinic.addRoom();
    const slugs = [room.slug, paula.waiting_room_slug, peter.waiting_room_slug];
    for (const slug of slugs) await clinic.addParticipant(slug);
    const reach = {
      [clinic.admin.id]: [1, 1, 1],
      [paula.id]: [1, 1],
      [peter.id]: [1, 0, 1],
      [assistant.id]: [1, 1],
    };
    for (const [id, reached] of Object.entries(reach)) {
      const client = await clinic.addClient(Number(id));
      for (const [n, slug] of slugs.entries()) {
        const answer = await client.get(`/waiting_rooms/${slug}/participants`);
        if (reached[n]) expect(answer.body.participants).toHaveLength(1);
        else expectRefusal(answer, 404, /^Waiting room not found$/);
      }
    }
  });

  it("returns 404 for a room of another organization, a retired room, an old slug, and an unknown slug", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const [theirs, retired, renamed] = [
      await other.addRoom(),
      await clinic.addRoom(),
      await clinic.addRoom({ name: "Lungs" }),
    ];
    await clinic.client.delete(`/waiting_rooms/${retired.slug}`);
    await given(clinic.client.put(`/waiting_rooms/${renamed.slug}`, { waiting_room: { name: "Heart" } }));
    for (const slug of [theirs.slug, retired.slug, renamed.slug, "none"])
      expectRefusal(await clinic.client.get(`/waiting_rooms/${slug}/participants`), 404);
  });

  it("reads only the rows it shows, up to 500, in a room that thousands have visited", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const insert = (count: number, left_at: number | null, since: number) =>
      insertMany(
        count,
        `insert into recorded_participants (organization_id, key, waiting_room_id, display_name, role, waiting_since, left_at,
           created_at, updated_at)
         select ?1, ?2 || '-' || n || '-' || ?3, ?2, 'Rita', 'recipient', ?3 - n, ?4, n, n from counter`,
        ...[clinic.id, room.id, since, left_at],
      );
    await insert(3_000, 900_000, 800_000);
    await insert(600, null, 1_000_000);
    for (const member of [clinic.admin, await clinic.addUser("Al", ["provider_assistant"])]) {
      const counting = countingRows();
      const client = (await clinic.addClient(member.id)).through(counting.fetcher);
      await given(client.get("/roles"));
      const { result, rows_read } = await counting.during(() =>
        given(client.get(`/waiting_rooms/${room.slug}/participants`)),
      );
      const times = result.participants.map(({ waiting_since }: { waiting_since: string }) =>
        Date.parse(waiting_since),
      );
      expect(times).toEqual(Array.from({ length: 500 }, (_, n) => 1_000_000 - 600 + n));
      // A participant is a row and their record. The other rows are read to record the request.
      expect(rows_read).toBeLessThanOrEqual(1020);
    }
  });
});
