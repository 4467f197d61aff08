import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, knownParticipant, waitingCount } from "../support/calls.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";

const report = (slug: string, key: string, participant: object) =>
  platform.put(`/waiting_rooms/${slug}/participants/${encodeURIComponent(key)}`, { participant });

const open = (slug: string) => platform.get(`/waiting_rooms/${slug}`);

const setActive = ({ client }: Organization, slug: string, is_active: boolean) =>
  given(client.put(`/waiting_rooms/${slug}`, { waiting_room: { is_active } }));

async function aRoom(room: object = {}) {
  const clinic = await anOrganization();
  return { clinic, room: await clinic.addRoom(room) };
}

const TEN_PAST = "2026-01-31T09:10:00.000Z";
const TWENTY_PAST = "2026-01-31T09:20:00.000Z";
const HALF_PAST = "2026-01-31T09:30:00.000Z";
const LATER = "2026-01-31T09:40:00.000Z";

const RITA = { display_name: "Rita Recipient", role: "recipient", waiting_since: TEN_PAST };

describe("The platform's GET /waiting_rooms/{slug}", () => {
  async function aRoomWithActiveSub(sub: object = {}) {
    const { clinic, room } = await aRoom();
    const sam = await clinic.addProvider("Sam Substitute");
    const sue = await clinic.addProvider("Sue Substitute");
    const active = await clinic.addSub(room.slug, {
      user_id: sam.user_id,
      datetime_start: fromNow(-10),
      datetime_end: fromNow(10),
      ...sub,
    });
    return { clinic, room, sam, sue, active };
  }

  async function expectLeading({ id }: Organization, room: { slug: string }, sub: unknown, slug: string) {
    const { status, body } = await open(room.slug);
    expect(status).toBe(200);
    expect(body).toEqual({
      organization_id: id,
      waiting_room: room,
      active_sub: sub,
      destination_slug: slug,
    });
  }

  it("returns the substitute's room as the destination while a filled sub is active, and otherwise the room itself", async () => {
    const { clinic, room, sam, active } = await aRoomWithActiveSub();
    const path = `/waiting_rooms/${room.slug}/waiting_room_subs/${active.id}`;
    await expectLeading(clinic, room, active, sam.waiting_room_slug);
    const user_id = null;
    const emptied = await given(clinic.client.put(path, { waiting_room_sub: { user_id } }));
    await expectLeading(clinic, room, emptied, room.slug);
    await given(clinic.client.delete(path));
    await expectLeading(clinic, room, null, room.slug);
  });

  it("returns the current slug of the substitute's room, as long as that room is active", async () => {
    const { clinic, room, sam, active } = await aRoomWithActiveSub();
    const path = `/waiting_rooms/${sam.waiting_room_slug}`;
    const { slug } = await given(clinic.client.put(path, { waiting_room: { name: "Evening" } }));
    const sub = { ...active, sub_waiting_room_slug: slug };
    await expectLeading(clinic, room, sub, slug);
    await setActive(clinic, slug, false);
    await expectLeading(clinic, room, sub, room.slug);
    await setActive(clinic, slug, true);
    await expectLeading(clinic, room, sub, slug);
  });

  it("sends nobody to a substitute who is away too, nor anywhere if substitutes replace each other", async () => {
    const { clinic, room, sam, sue, active } = await aRoomWithActiveSub();
    const { datetime_start, datetime_end } = active;
    const replace = (by: typeof sam, user_id: number) =>
      clinic.addSub(by.waiting_room_slug, { user_id, datetime_start, datetime_end });
    await replace(sam, sue.user_id);
    await expectLeading(clinic, room, active, sue.waiting_room_slug);
    const { body } = await open(sam.waiting_room_slug.toUpperCase());
    expect(body.organization_id).toBe(clinic.id);
    expect(body.waiting_room).toMatchObject({ organization_id: null, user_id: sam.user_id });
    expect(body.destination_slug).toBe(sue.waiting_room_slug);
    await setActive(clinic, sue.waiting_room_slug, false);
    await expectLeading(clinic, room, active, sam.waiting_room_slug);
    await setActive(clinic, sue.waiting_room_slug, true);
    await replace(sue, sam.user_id);
    await expectLeading(clinic, room, active, room.slug);
    for (const { waiting_room_slug } of [sam, sue])
      expect((await open(waiting_room_slug)).body.destination_slug).toBe(waiting_room_slug);
  });

  it("follows a sub from its start up to, but not including, its end", async () => {
    const { clinic, room, sam, sue, active } = await aRoomWithActiveSub({
      datetime_start: "2100-06-01T10:00:00Z",
      datetime_end: "2100-06-01T11:00:00Z",
    });
    const next = await clinic.addSub(room.slug, {
      user_id: sue.user_id,
      datetime_start: "2100-06-01T11:00:00Z",
      datetime_end: "2100-06-01T12:00:00Z",
    });
    const answers = [];
    for (const time of ["09:59:59.999", "10:00:00.000", "10:59:59.999", "11:00:00.000", "12:00:00.000"]) {
      travelTo(`2100-06-01T${time}Z`);
      const { active_sub, destination_slug } = (await open(room.slug)).body;
      answers.push([active_sub, destination_slug]);
    }
    const [itself, toSam] = [
      [null, room.slug],
      [active, sam.waiting_room_slug],
    ];
    expect(answers).toEqual([itself, toSam, toSam, [next, sue.waiting_room_slug], itself]);
  });
});

describe("A participant's first PUT /waiting_rooms/{slug}/participants/{key}", () => {
  it("makes the participant wait in the room", async () => {
    const { clinic, room } = await aRoom();
    const { status, body } = await report(room.slug, "rita", RITA);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(Number),
      key: "rita",
      waiting_room_id: room.id,
      call_id: null,
      user_id: null,
      display_name: "Rita Recipient",
      role: "recipient",
      waiting_since: TEN_PAST,
      joined_at: null,
      left_at: null,
    });
    expect(await waitingCount(clinic, room.slug)).toBe(1);
  });

  it("may be for a member of the organization, who counts as waiting until they leave", async () => {
    const { clinic, room } = await aRoom();
    const { user_id } = await clinic.addProvider("Paula Provider");
    await given(report(room.slug, "rita", RITA));
    const paula = { display_name: " Paula Provider ", role: "provider", user_id, waiting_since: TWENTY_PAST };
    const { body } = await report(room.slug, "paula", paula);
    expect(body).toMatchObject({ ...paula, display_name: "Paula Provider" });
    expect(await waitingCount(clinic, room.slug)).toBe(2);
    await given(report(room.slug, "paula", { left_at: HALF_PAST }));
    expect(await waitingCount(clinic, room.slug)).toBe(1);
  });

  it("may be for a person who has already left, with times of any offset; the response is in UTC", async () => {
    const { clinic, room } = await aRoom();
    const waiting_since = "2026-01-31T10:10:00+01:00";
    const left_at = "2026-01-31T04:20:00-05:00";
    const { status, body } = await report(room.slug, "rita", { ...RITA, waiting_since, left_at });
    expect(status).toBe(200);
    expect(body).toMatchObject({ waiting_since: TEN_PAST, left_at: TWENTY_PAST });
    expect(await waitingCount(clinic, room.slug)).toBe(0);
  });

  it.each<[string, object, RegExp]>([
    ["without display_name", { display_name: undefined }, /display_name/],
    ["with an invalid left_at", { left_at: "later" }, /^participant\.left_at: must be an ISO [^;]*$/],
    ["with a left_at before waiting_since", { left_at: "2026-01-31T09:09:59.999Z" }, /participant\.left_at/],
    ["with an unknown user_id", { user_id: 999_999_999 }, /participant\.user_id/],
  ])("is refused %s, and nobody enters the room", async (_, fault, field) => {
    const { clinic, room } = await aRoom();
    expectRefusal(await report(room.slug, "rita", { ...RITA, ...fault }), 422, field);
    expect(await waitingCount(clinic, room.slug)).toBe(0);
    expectRefusal(await report(room.slug, "rita", {}), 422);
  });
});

/** `test/unit/calls/participants.merge.test.ts` covers the meaning of each field in all cases. */
describe("A participant's later PUT /waiting_rooms/{slug}/participants/{key}", () => {
  it("changes the fields that it contains, keeps the others, and clears user_id with null", async () => {
    const { clinic, room } = await aRoom();
    const { user_id } = await clinic.addProvider();
    let known = await given(report(room.slug, "rita", RITA));
    for (const change of [
      { display_name: "Paula", role: "provider", user_id, waiting_since: TWENTY_PAST },
      { display_name: "Dr. Paula" },
      { user_id: null },
      { left_at: HALF_PAST },
    ]) {
      known = { ...known, ...change };
      expect(await report(room.slug, "rita", change)).toMatchObject({ status: 200, body: known });
      expect(await knownParticipant(room.slug, "rita")).toEqual(known);
    }
  });
});

it("PUT /waiting_rooms/{slug}/participants/{key} refuses newcomers to an inactive room, unless they have already left", async () => {
  const { clinic, room } = await aRoom();
  const first = await given(report(room.slug, "rita", RITA));
  await setActive(clinic, room.slug, false);
  expectRefusal(await report(room.slug, "paul", RITA), 422);
  expect(await waitingCount(clinic, room.slug)).toBe(1);
  const renamed = await report(room.slug, "rita", { ...RITA, display_name: "Rita R." });
  expect(renamed).toMatchObject({ status: 200, body: { ...first, display_name: "Rita R." } });
  const left = await report(room.slug, "rita", { left_at: TWENTY_PAST });
  expect(left).toMatchObject({ status: 200, body: { ...renamed.body, left_at: TWENTY_PAST } });
  const gone = await report(room.slug, "paul", { ...RITA, left_at: TWENTY_PAST });
  expect(gone).toMatchObject({ status: 200, body: { left_at: TWENTY_PAST } });
  expect(await waitingCount(clinic, room.slug)).toBe(0);
});

describe("A participant's key", () => {
  it("moves the participant when it is reported for another room, unless that room is inactive", async () => {
    const { clinic, room } = await aRoom({ name: "Cardiology" });
    const [other, closed] = [await clinic.addRoom(), await clinic.addRoom({ is_active: false })];
    const first = await given(report(room.slug, "rita", RITA));
    expectRefusal(await report(closed.slug, "rita", { display_name: "Rita R." }), 422);
    expect(await knownParticipant(room.slug, "rita")).toEqual(first);
    const moved = await report(other.slug, "rita", {});
    expect(moved).toMatchObject({ status: 200, body: { ...first, waiting_room_id: other.id } });
    const counts = [room, other, closed].map(({ slug }) => waitingCount(clinic, slug));
    expect(await Promise.all(counts)).toEqual([0, 1, 0]);
  });

  it("distinguishes the participants of a room, and is case-sensitive", async () => {
    const { clinic, room } = await aRoom();
    const rita = await given(report(room.slug, "rita", RITA));
    const paul = await given(report(room.slug, "Rita", { ...RITA, display_name: "Paul" }));
    expect(paul.id).not.toBe(rita.id);
    await given(report(room.slug, "Rita", { left_at: TWENTY_PAST }));
    expect(await knownParticipant(room.slug, "rita")).toEqual(rita);
    expect(await waitingCount(clinic, room.slug)).toBe(1);
  });
});

describe("PUT /waiting_rooms/{slug}/participants/{key} under a former slug", () => {
  const RENAMED = /^Waiting room not found: the room that had this slug was renamed or retired$/;

  it("changes and ends the visit of a participant in the room, even after the room is retired", async () => {
    const { clinic, room } = await aRoom({ name: "Cardiology" });
    const { user_id } = await clinic.addProvider();
    await given(report(room.slug, "rita", RITA));
    await given(report(room.slug, "paul", { ...RITA, display_name: "Paul" }));
    const heart = await given(
      clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: "Heart" } }),
    );
    const path = `/waiting_rooms/${heart.slug}`;
    const { slug } = await given(clinic.client.put(path, { waiting_room: { name: "Lungs" } }));
    const changed = await report(heart.slug, "rita", { display_name: "Rita R.", user_id });
    expect(changed).toMatchObject({ status: 200, body: { waiting_room_id: room.id, left_at: null } });
    const left = await report(room.slug, "rita", { left_at: TWENTY_PAST });
    expect(left).toMatchObject({ status: 200, body: { ...changed.body, left_at: TWENTY_PAST } });
    expect(await waitingCount(clinic, slug)).toBe(1);
    expect((await report(heart.slug, "paul", { left_at: TWENTY_PAST })).status).toBe(200);

    expectGone(await clinic.client.delete(`/waiting_rooms/${slug}`));
    for (const each of [room.slug, heart.slug, slug])
      expect((await report(each, "rita", { left_at: TWENTY_PAST })).body).toEqual(left.body);
  });

  it("lets nobody enter the room", async () => {
    const { clinic, room } = await aRoom({ name: "Cardiology" });
    const elsewhere = await clinic.addRoom({ name: "Lungs" });
    await given(report(room.slug, "rita", { ...RITA, left_at: TWENTY_PAST }));
    await given(report(elsewhere.slug, "olga", { ...RITA, display_name: "Olga" }));
    const { slug } = await given(
      clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: "Heart" } }),
    );
    expectRefusal(await report(room.slug, "rita", { waiting_since: HALF_PAST, left_at: null }), 404, RENAMED);
    expectRefusal(await report(room.slug, "olga", {}), 404, RENAMED);
    expectRefusal(await report(room.slug, "paul", RITA), 404, RENAMED);
    expectRefusal(await report(room.slug, "paul", { ...RITA, left_at: TWENTY_PAST }), 404, RENAMED);
    expect(await waitingCount(clinic, slug)).toBe(0);
    expect(await waitingCount(clinic, elsewhere.slug)).toBe(1);
    expectGone(await clinic.client.delete(`/waiting_rooms/${slug}`));
    expectRefusal(await report(slug, "paul", RITA), 404, RENAMED);
    expectRefusal(await open(slug), 404);
  });
});

it("PUT /waiting_rooms/{slug}/participants/{key} lets a participant leave who joined a call directly, but not before that", async () => {
  const key = unique("rita");
  const { room } = await aCall(await anOrganization(), {
    ended_at: undefined,
    participants: [aRecipient({ key, joined_at: HALF_PAST })],
  });
  expectRefusal(await report(room.slug, key, { left_at: TWENTY_PAST }), 422, /left_at/);
  const left = await report(room.slug, key, { left_at: LATER });
  expect(left).toMatchObject({ status: 200, body: { waiting_since: null, left_at: LATER } });
});
