import { describe, expect, it } from "vitest";
import { aTimestamp, expectGone, expectRefusal } from "./support/expectations.ts";
import { anOrganization } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";

/** A clinic's room, somebody who can stand in for it, and the requests about the room's subs. */
async function aRoomWithSubstitute() {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const substitute = await clinic.addProvider("Sam Substitute");
  return { clinic, room, substitute, ...subsOf(clinic, room.slug, substitute.user_id) };
}

function subsOf({ client }: Awaited<ReturnType<typeof anOrganization>>, slug: string, user_id: number) {
  const path = `/waiting_rooms/${slug}/waiting_room_subs`;
  return {
    path,
    listed: async () => (await client.get(path)).body.waiting_room_subs,
    /** From tomorrow on, unless said otherwise. */
    create: (sub: object = {}) =>
      client.post(path, { waiting_room_sub: { user_id, datetime_start: fromNow(DAY), ...sub } }),
    update: (id: number, waiting_room_sub: object) => client.put(`${path}/${id}`, { waiting_room_sub }),
    remove: (id: number) => client.delete(`${path}/${id}`),
  };
}

/** The same, with a sub from ten to eleven. */
async function aRoomWithSub() {
  const scene = await aRoomWithSubstitute();
  return { ...scene, sub: (await scene.create(FROM_TEN_TO_ELEVEN)).body };
}

const DAY = 24 * 60;

const FROM_TEN_TO_ELEVEN = {
  datetime_start: "2100-06-01T10:00:00.000Z",
  datetime_end: "2100-06-01T11:00:00.000Z",
};

const at = (time: string) => `2100-06-01T${time}Z`;

const between = (start: string, end: string) => ({ datetime_start: at(start), datetime_end: at(end) });

describe("Creating a waiting room sub", () => {
  it("lets the substitute take over the room for a limited time, and ignores unknown keys", async () => {
    const { room, substitute, create, listed } = await aRoomWithSubstitute();
    const unknown = { id: 999_999, waiting_room_id: 1, sub_waiting_room_slug: "elsewhere" };
    const created = await create({ ...FROM_TEN_TO_ELEVEN, ...unknown });
    expect(created.body).toEqual({
      id: expect.any(Number),
      waiting_room_id: room.id,
      user_id: substitute.user_id,
      sub_waiting_room_slug: substitute.waiting_room_slug,
      ...FROM_TEN_TO_ELEVEN,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
    });
    expect(created.body.id).not.toBe(unknown.id);
    expect(await listed()).toEqual([created.body]);
  });

  it.each([
    ["is left out", {}],
    ["is null", { datetime_end: null }],
  ])("lasts 24 hours if the end %s", async (_, end) => {
    const { create } = await aRoomWithSubstitute();
    const created = await create({ datetime_start: "2100-02-28T09:30:00Z", ...end });
    expect(created.body).toMatchObject({
      datetime_start: "2100-02-28T09:30:00.000Z",
      datetime_end: "2100-03-01T09:30:00.000Z",
    });
  });

  it("accepts each way to write a moment in UTC", async () => {
    const { create, remove } = await aRoomWithSubstitute();
    for (const datetime_start of [
      "2100-06-01T10:00:00Z",
      "2100-06-01T10:00:00.000Z",
      "2100-06-01T10:00Z",
      "2100-06-01T10:00:00z",
      "2100-06-01T10:00:00+00:00",
      "2100-06-01T10:00:00+0000",
      "2100-06-01T10:00:00.000+00",
      "2100-06-01T10:00+00",
    ]) {
      const created = await create({ datetime_start, datetime_end: "2100-06-01T10:00:00.001+00:00" });
      expect(created.body).toMatchObject({
        datetime_start: "2100-06-01T10:00:00.000Z",
        datetime_end: "2100-06-01T10:00:00.001Z",
      });
      expectGone(await remove(created.body.id));
    }
  });
});

describe("A waiting room sub is refused, and nothing is changed,", () => {
  it.each<[string, object, RegExp]>([
    ["a user_id of nobody", { user_id: 999_999_999 }, /waiting_room_sub\.user_id/],
    ["a start at +000", { datetime_start: "2100-06-01T09:00:00+000" }, /waiting_room_sub\.datetime_start/],
    ["an end that is the start", between("10:00:00", "10:00:00"), /waiting_room_sub\.datetime_end/],
    ["an end before the start", between("10:00:00", "09:59:59.999"), /waiting_room_sub\.datetime_end/],
    ["a start at the stored end", { datetime_start: at("11:00:00") }, /waiting_room_sub/],
    ["an end before the stored start", { datetime_end: at("09:00:00") }, /waiting_room_sub/],
  ])("with %s, by a text that names the field", async (_, fault, field) => {
    const { create, listed, update, sub } = await aRoomWithSub();
    expectRefusal(await create({ ...FROM_TEN_TO_ELEVEN, ...fault }), 422, field);
    expectRefusal(await update(sub.id, fault), 422, field);
    expect(await listed()).toEqual([sub]);
  });

  it("with somebody without a personal room, of another organization, or with the room's own owner", async () => {
    const { clinic, substitute } = await aRoomWithSubstitute();
    const owner = await clinic.addProvider("Olga Owner");
    const assistant = await clinic.addUser("Al Assistant", ["provider_assistant"]);
    const stranger = await (await anOrganization("Hillside Clinic")).addProvider();
    const { create, update, listed } = subsOf(clinic, owner.waiting_room_slug, substitute.user_id);
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    for (const { user_id } of [owner, assistant, clinic.admin, stranger])
      for (const refused of [
        await create({ user_id, ...between("14:00:00", "15:00:00") }),
        await update(sub.id, { user_id, ...between("14:00:00", "15:00:00") }),
      ])
        expectRefusal(refused, 422, /waiting_room_sub\.user_id/);
    expect(await listed()).toEqual([sub]);
  });
});

describe("The times of a room's subs", () => {
  it("can be back to back, but do not overlap by a millisecond", async () => {
    const { create, listed } = await aRoomWithSubstitute();
    const taken = [];
    for (const times of [
      { datetime_start: "2100-05-31T10:00:00.000Z" },
      between("10:00:00", "11:00:00"),
      between("11:00:00", "12:00:00"),
      between("14:00:00", "14:30:00"),
    ])
      taken.push((await create(times)).body);
    for (const times of [
      between("10:00:00", "11:00:00"),
      between("10:15:00", "10:45:00"),
      between("10:30:00", "11:00:00"),
      between("09:59:59.999", "10:00:00"),
      between("11:59:59.999", "14:00:00"),
      between("12:00:00", "14:00:00.001"),
      between("13:00:00", "15:00:00"),
      between("12:00:00", "14:30:00"),
      between("14:00:00", "14:10:00"),
      { datetime_start: "2100-05-30T10:00:00.001Z" },
    ])
      expectRefusal(await create(times), 422, /overlap/);
    expect(await listed()).toEqual(taken);
  });

  it("stay taken by a sub that is no longer filled, and are free again when it is deleted", async () => {
    const { create, update, remove, listed, sub } = await aRoomWithSub();
    const emptied = (await update(sub.id, { user_id: null })).body;
    expectRefusal(await create(FROM_TEN_TO_ELEVEN), 422, /overlap/);
    expect(await listed()).toEqual([emptied]);
    expectGone(await remove(sub.id));
    const second = await create(FROM_TEN_TO_ELEVEN);
    expect(second.status).toBe(201);
    expect(second.body.id).toBeGreaterThan(sub.id);
    expect(await listed()).toEqual([second.body]);
  });

  it("are 24 hours without an end, and the refusal of such an overlap says so", async () => {
    const { create } = await aRoomWithSub();
    const text = "The times overlap another sub of the waiting room";
    const { datetime_start } = between("08:00:00", "10:30:00");
    for (const datetime_end of [undefined, null])
      expectRefusal(
        await create({ datetime_start, datetime_end }),
        422,
        `${text}; without datetime_end, a sub lasts 24 hours`,
      );
    expectRefusal(await create(between("08:00:00", "10:30:00")), 422, text);
  });

  it("must not overlap in the past either", async () => {
    const { create } = await aRoomWithSubstitute();
    const past = { datetime_start: fromNow(-3 * DAY), datetime_end: fromNow(-2 * DAY) };
    expect((await create(past)).status).toBe(201);
    expectRefusal(await create(past), 422, /overlap/);
  });
});

describe("Listing the subs of a waiting room", () => {
  it("leaves out a sub from the moment of its end, and one that was over before, although it was accepted", async () => {
    const { create, listed, sub } = await aRoomWithSub();
    expect((await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) })).status).toBe(201);
    travelTo("2100-06-01T10:59:59.999Z");
    expect(await listed()).toEqual([sub]);
    travelTo("2100-06-01T11:00:00.000Z");
    expect(await listed()).toEqual([]);
  });

  it("shows only those of this room", async () => {
    const { clinic, substitute, listed, sub } = await aRoomWithSub();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    expect(await other.listed()).toEqual([]);
    const otherSub = (await other.create(FROM_TEN_TO_ELEVEN)).body;
    expect(await listed()).toEqual([sub]);
    expect(await other.listed()).toEqual([otherSub]);
  });

  it("goes on when rooms are renamed, with the current slug of the substitute's room", async () => {
    const { clinic, room, substitute, sub } = await aRoomWithSub();
    const rename = async (slug: string, name: string) =>
      (await clinic.client.put(`/waiting_rooms/${slug}`, { waiting_room: { name } })).body.slug;
    const sub_waiting_room_slug = await rename(substitute.waiting_room_slug, "Evening Visits");
    const slug = await rename(room.slug, "Heart Centre");
    const { listed } = subsOf(clinic, slug, substitute.user_id);
    expect(await listed()).toEqual([{ ...sub, sub_waiting_room_slug }]);
  });
});

describe("Updating a waiting room sub", () => {
  it("changes what is given, and updated_at, and keeps the rest", async () => {
    const { update, listed, sub } = await aRoomWithSub();
    travelTo(fromNow(5));
    let known = sub;
    for (const change of [
      { datetime_start: at("10:59:59.999") },
      { datetime_end: at("12:00:00.000") },
      {},
      { datetime_start: at("14:00:00.000"), datetime_end: at("15:00:00.000") },
    ]) {
      const updated = await update(sub.id, change);
      expect(updated.body).toEqual({ ...known, ...change, updated_at: aTimestamp });
      known = updated.body;
      expect(await listed()).toEqual([known]);
    }
    expect(Date.parse(known.updated_at)).toBeGreaterThan(Date.parse(sub.updated_at));
  });

  it("hands the sub to another user, makes it unfilled with a null user_id, and fills it again", async () => {
    const { clinic, substitute, update, listed, sub } = await aRoomWithSub();
    const successor = await clinic.addProvider("Sue Successor");
    for (const { user_id, waiting_room_slug } of [
      successor,
      { user_id: null, waiting_room_slug: null },
      substitute,
    ]) {
      const updated = await update(sub.id, { user_id });
      const sub_waiting_room_slug = waiting_room_slug;
      expect(updated.body).toEqual({ ...sub, user_id, sub_waiting_room_slug, updated_at: aTimestamp });
      expect(await update(sub.id, {})).toMatchObject({ body: { user_id, sub_waiting_room_slug } });
      expect(await listed()).toMatchObject([{ user_id, sub_waiting_room_slug }]);
    }
  });

  it("does not overlap itself, and can reach to the next sub and move past it, but not into it", async () => {
    const { create, update, listed, sub } = await aRoomWithSub();
    const next = (await create(between("12:00:00", "13:00:00"))).body;
    const longer = await update(sub.id, between("10:30:00", "12:00:00"));
    expect(longer.status).toBe(200);
    expectRefusal(await update(sub.id, { datetime_end: at("12:00:00.001") }), 422, /overlap/);
    expectRefusal(await update(next.id, { datetime_start: at("11:59:59.999") }), 422, /overlap/);
    expectRefusal(await update(next.id, between("09:00:00", "14:00:00")), 422, /overlap/);
    expect(await listed()).toEqual([longer.body, next]);
    const moved = await update(sub.id, between("13:00:00", "14:00:00"));
    expect(moved.status).toBe(200);
    expect(await listed()).toEqual([next, moved.body]);
  });

  it("brings back a sub that is over", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const over = await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) });
    expect(await listed()).toEqual([]);
    const updated = await update(over.body.id, { datetime_end: fromNow(30) });
    expect(updated.status).toBe(200);
    expect(await listed()).toEqual([updated.body]);
  });

  it("ignores unknown keys", async () => {
    const { clinic, update, sub } = await aRoomWithSub();
    const other = await clinic.addRoom({ name: "Lungs" });
    const updated = await update(sub.id, {
      ...sub,
      id: sub.id + 1,
      waiting_room_id: other.id,
      sub_waiting_room_slug: "elsewhere",
      created_at: fromNow(-DAY),
    });
    expect(updated.body).toEqual({ ...sub, updated_at: aTimestamp });
  });
});

describe("Deleting a waiting room sub", () => {
  it("deletes only this one, also one that is over or not filled", async () => {
    const { create, update, remove, listed, sub } = await aRoomWithSub();
    const over = (await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) })).body;
    const other = (await create(between("12:00:00", "13:00:00"))).body;
    await update(sub.id, { user_id: null });
    for (const { id } of [over, sub]) {
      expectGone(await remove(id));
      expectRefusal(await remove(id), 404);
      expectRefusal(await update(id, { user_id: null }), 404);
    }
    expect(await listed()).toEqual([other]);
  });

  it("gives 404, as an update does, through another room", async () => {
    const { clinic, substitute, listed, sub } = await aRoomWithSub();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    expectRefusal(await other.update(sub.id, { user_id: null }), 404);
    expectRefusal(await other.remove(sub.id), 404);
    expect(await listed()).toEqual([sub]);
  });
});
