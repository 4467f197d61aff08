import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { aCall, aRecipient, knownParticipant, waitingCount } from "./support/calls.ts";
import { expectGone, expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

const report = (slug: string, key: string, participant: object) =>
  platform.put(`/waiting_rooms/${slug}/participants/${encodeURIComponent(key)}`, { participant });

const open = (slug: string) => platform.get(`/waiting_rooms/${slug}`);

const setActive = ({ client }: Organization, slug: string, is_active: boolean) =>
  given(client.put(`/waiting_rooms/${slug}`, { waiting_room: { is_active } }));

async function aRoom(room: object = {}) {
  const clinic = await anOrganization();
  return { clinic, room: await clinic.addRoom(room) };
}

const NINE = "2026-01-31T09:00:00.000Z";
const FIVE_PAST = "2026-01-31T09:05:00.000Z";
const TEN_PAST = "2026-01-31T09:10:00.000Z";
const TWENTY_PAST = "2026-01-31T09:20:00.000Z";
const HALF_PAST = "2026-01-31T09:30:00.000Z";
const LATER = "2026-01-31T09:40:00.000Z";

const RITA = { display_name: "Rita Recipient", role: "recipient", waiting_since: TEN_PAST };

describe("Opening a waiting room", () => {
  /** A room, two possible substitutes, and an active sub. */
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

  it("leads to the substitute's room while a filled sub is active, and to the room itself without one", async () => {
    const { clinic, room, sam, active } = await aRoomWithActiveSub();
    const path = `/waiting_rooms/${room.slug}/waiting_room_subs/${active.id}`;
    await expectLeading(clinic, room, active, sam.waiting_room_slug);
    const user_id = null;
    const emptied = await given(clinic.client.put(path, { waiting_room_sub: { user_id } }));
    await expectLeading(clinic, room, emptied, room.slug);
    await given(clinic.client.delete(path));
    await expectLeading(clinic, room, null, room.slug);
  });

  it("leads to the current slug of the substitute's room, while that is active", async () => {
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

  it("goes only one step, even if the substitute has a substitute, to whom the personal room leads", async () => {
    const { clinic, room, sam, sue, active } = await aRoomWithActiveSub();
    const { datetime_start, datetime_end } = active;
    await clinic.addSub(sam.waiting_room_slug, { user_id: sue.user_id, datetime_start, datetime_end });
    await expectLeading(clinic, room, active, sam.waiting_room_slug);
    const { body } = await open(sam.waiting_room_slug);
    expect(body.organization_id).toBe(clinic.id);
    expect(body.waiting_room).toMatchObject({ organization_id: null, user_id: sam.user_id });
    expect(body.destination_slug).toBe(sue.waiting_room_slug);
  });

  it("follows the subs from the moment of their start to the moment of their end", async () => {
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

describe("A participant's first report", () => {
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

  it("may be of somebody of the organization, who counts like a recipient, until they leave", async () => {
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

  it("can be about a person who has already left, with times of any offset; the response is in UTC", async () => {
    const { clinic, room } = await aRoom();
    const waiting_since = "2026-01-31T10:10:00+01:00";
    const left_at = "2026-01-31T04:20:00-05:00";
    const { status, body } = await report(room.slug, "rita", { ...RITA, waiting_since, left_at });
    expect(status).toBe(200);
    expect(body).toMatchObject({ waiting_since: TEN_PAST, left_at: TWENTY_PAST });
    expect(await waitingCount(clinic, room.slug)).toBe(0);
  });

  it.each([
    ["as long as can be", "k".repeat(255)],
    ["of other signs than letters", "PA_1/ä%20:?#"],
  ])("accepts a key %s", async (_, key) => {
    const { room } = await aRoom();
    const { status, body } = await report(room.slug, key, RITA);
    expect(status).toBe(200);
    expect(body.key).toBe(key);
    expect((await report(room.slug, key, RITA)).body).toEqual(body);
  });

  it("may contain unknown keys, which are ignored", async () => {
    const { room } = await aRoom();
    const { status, body } = await report(room.slug, "rita", {
      ...RITA,
      id: 1,
      key: "paul",
      waiting_room_id: 1,
      call_id: 1,
      joined_at: TWENTY_PAST,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ key: "rita", waiting_room_id: room.id, call_id: null, joined_at: null });
  });

  it.each<[string, object, RegExp]>([
    ["without display_name", { display_name: undefined }, /display_name/],
    ["with a left_at that is no time", { left_at: "later" }, /^participant\.left_at: must be an ISO [^;]*$/],
    ["with a left_at before waiting_since", { left_at: "2026-01-31T09:09:59.999Z" }, /participant\.left_at/],
    ["with a user_id of nobody", { user_id: 999_999_999 }, /participant\.user_id/],
  ])("is refused %s, and nobody enters", async (_, fault, field) => {
    const { clinic, room } = await aRoom();
    expectRefusal(await report(room.slug, "rita", { ...RITA, ...fault }), 422, field);
    expect(await waitingCount(clinic, room.slug)).toBe(0);
    expectRefusal(await report(room.slug, "rita", {}), 422);
  });
});

/** What each can mean in all cases, `test/unit/participants.merge.test.ts` says. */
describe("A participant's later report", () => {
  it("keeps the fields that it leaves out, changes those that it contains, clears the user_id with null", async () => {
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

  it("is refused with a left_at before the known waiting_since, and changes nothing", async () => {
    const { room } = await aRoom();
    await given(report(room.slug, "rita", RITA));
    const fault = { role: "provider", left_at: NINE };
    const refused = await changingNothing(() => report(room.slug, "rita", fault));
    expectRefusal(refused, 422, /participant\.left_at/);
  });

  it("corrects the visit of a participant to an earlier one", async () => {
    const { clinic, room } = await aRoom();
    const first = await given(report(room.slug, "rita", RITA));
    const correction = { waiting_since: NINE, left_at: LATER };
    const corrected = await report(room.slug, "rita", { ...RITA, ...correction });
    expect(corrected).toMatchObject({ status: 200, body: { ...first, ...correction } });
    expect(await waitingCount(clinic, room.slug)).toBe(0);
  });

  it("changes nothing if it repeats what is known, or is late, also about another room", async () => {
    const { clinic, room } = await aRoom({ name: "Cardiology" });
    const other = await clinic.addRoom({ name: "Lungs" });
    const changesNothing = async (known: object, slug: string, ...late: object[]) => {
      for (const each of late)
        expect(await changingNothing(() => report(slug, "rita", each))).toMatchObject({
          status: 200,
          body: known,
        });
    };
    const first = await given(report(room.slug, "rita", RITA));
    const before = { display_name: "Rita Late", waiting_since: NINE, left_at: FIVE_PAST };
    await changesNothing(first, room.slug, RITA, before);
    await changesNothing(first, other.slug, { waiting_since: NINE }, before);
    const left = await given(report(room.slug, "rita", { left_at: TWENTY_PAST }));
    await changesNothing(
      left,
      room.slug,
      RITA,
      { display_name: "Rita Recipient" },
      { ...RITA, left_at: null },
    );
    expect(await waitingCount(clinic, room.slug)).toBe(0);
    const back = await given(report(room.slug, "rita", { waiting_since: HALF_PAST, left_at: null }));
    expect(back).toEqual({ ...first, waiting_since: HALF_PAST });
    await changesNothing(back, room.slug, RITA, { ...RITA, left_at: TWENTY_PAST }, before);
    expect(await waitingCount(clinic, room.slug)).toBe(1);
  });
});

it("An inactive waiting room lets nobody in, but those who are there stay, change and leave, and may have come and gone", async () => {
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
  it("reported for another room of the organization moves the participant there, unless that is inactive", async () => {
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

  it("distinguishes the participants of a room", async () => {
    const { clinic, room } = await aRoom();
    const rita = await given(report(room.slug, "rita", RITA));
    const paul = await given(report(room.slug, "Rita", { ...RITA, display_name: "Paul" }));
    expect(paul.id).not.toBe(rita.id);
    await given(report(room.slug, "Rita", { left_at: TWENTY_PAST }));
    expect(await knownParticipant(room.slug, "rita")).toEqual(rita);
    expect(await waitingCount(clinic, room.slug)).toBe(1);
  });
});

describe("A room that was renamed or retired", () => {
  const RENAMED = /^Waiting room not found: the room that had this slug was renamed or retired$/;

  it("is left by any slug that it ever had", async () => {
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

  it("is entered only by its current slug, and not at all when it is retired", async () => {
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

  it("does not lead to the participants of another organization", async () => {
    const { clinic, room } = await aRoom({ name: "Cardiology" });
    const { room: otherRoom } = await aRoom();
    await given(report(otherRoom.slug, "rita", RITA));
    await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: "Heart" } }));
    expectRefusal(await report(room.slug, "rita", { left_at: TWENTY_PAST }), 404, RENAMED);
    expect((await knownParticipant(otherRoom.slug, "rita")).left_at).toBeNull();
  });
});

it("A participant who came straight onto a call can leave through the waiting room, but not before joining", async () => {
  const key = unique("rita");
  const { room } = await aCall(await anOrganization(), {
    ended_at: undefined,
    participants: [aRecipient({ key, joined_at: HALF_PAST })],
  });
  expectRefusal(await report(room.slug, key, { left_at: TWENTY_PAST }), 422, /left_at/);
  const left = await report(room.slug, key, { left_at: LATER });
  expect(left).toMatchObject({ status: 200, body: { waiting_since: null, left_at: LATER } });
});
