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

const DAY = 24 * 60;

const FROM_TEN_TO_ELEVEN = {
  datetime_start: "2100-06-01T10:00:00.000Z",
  datetime_end: "2100-06-01T11:00:00.000Z",
};

const at = (time: string) => `2100-06-01T${time}Z`;

const between = (start: string, end: string) => ({ datetime_start: at(start), datetime_end: at(end) });

const FAULTY_FIELDS: [string, object, RegExp][] = [
  ["a user_id of nobody", { user_id: 999_999_999 }, /waiting_room_sub\.user_id/],
  ["a start at +000", { datetime_start: "2100-06-01T09:00:00+000" }, /waiting_room_sub\.datetime_start/],
  ["an end that is the start", between("10:00:00", "10:00:00"), /waiting_room_sub\.datetime_end/],
  ["an end before the start", between("10:00:00", "09:59:59.999"), /waiting_room_sub\.datetime_end/],
];

describe("Creating a waiting room sub", () => {
  it("lets the substitute take over the room for a limited time", async () => {
    const { room, substitute, create, listed } = await aRoomWithSubstitute();
    const created = await create(FROM_TEN_TO_ELEVEN);
    expect(created.body).toEqual({
      id: expect.any(Number),
      waiting_room_id: room.id,
      user_id: substitute.user_id,
      sub_waiting_room_slug: substitute.waiting_room_slug,
      ...FROM_TEN_TO_ELEVEN,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
    });
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

  it.each([
    "2100-06-01T10:00:00Z",
    "2100-06-01T10:00:00.000Z",
    "2100-06-01T10:00Z",
    "2100-06-01T10:00:00z",
    "2100-06-01T10:00:00+00:00",
    "2100-06-01T10:00:00+0000",
    "2100-06-01T10:00:00.000+00",
    "2100-06-01T10:00+00",
  ])("accepts %s as the same moment in UTC", async (datetime_start) => {
    const { create } = await aRoomWithSubstitute();
    const created = await create({ datetime_start, datetime_end: "2100-06-01T10:00:00.001+00:00" });
    expect(created.body).toMatchObject({
      datetime_start: "2100-06-01T10:00:00.000Z",
      datetime_end: "2100-06-01T10:00:00.001Z",
    });
  });

  it("is possible for a personal room", async () => {
    const { clinic, substitute } = await aRoomWithSubstitute();
    const owner = await clinic.addProvider("Olga Owner");
    const personal = subsOf(clinic, owner.waiting_room_slug, substitute.user_id);
    const created = await personal.create();
    expect(created).toMatchObject({ status: 201, body: { user_id: substitute.user_id } });
    expect(await personal.listed()).toEqual([created.body]);
  });

  it("ignores unknown keys", async () => {
    const { room, create } = await aRoomWithSubstitute();
    const created = await create({
      ...FROM_TEN_TO_ELEVEN,
      id: 999_999,
      waiting_room_id: 1,
      sub_waiting_room_slug: "elsewhere",
    });
    expect(created.body.waiting_room_id).toBe(room.id);
    expect(created.body.id).not.toBe(999_999);
    expect(created.body.sub_waiting_room_slug).not.toBe("elsewhere");
  });

  it.each(FAULTY_FIELDS)(
    "refuses %s with a text that names the field, and creates nothing",
    async (_, fault, field) => {
      const { create, listed } = await aRoomWithSubstitute();
      expectRefusal(await create({ ...FROM_TEN_TO_ELEVEN, ...fault }), 422, field);
      expect(await listed()).toEqual([]);
    },
  );

  it("refuses those without a personal room, of another organization, and the room's own owner", async () => {
    const { clinic } = await aRoomWithSubstitute();
    const owner = await clinic.addProvider("Olga Owner");
    const assistant = await clinic.addUser("Al Assistant", ["provider_assistant"]);
    const stranger = await (await anOrganization("Hillside Clinic")).addProvider();
    for (const { user_id } of [owner, assistant, clinic.admin, stranger]) {
      const { create, listed } = subsOf(clinic, owner.waiting_room_slug, user_id);
      expectRefusal(await create(), 422, /waiting_room_sub\.user_id/);
      expect(await listed()).toEqual([]);
    }
  });
});

describe("The times of a room's subs", () => {
  it.each([
    ["are the same", between("10:00:00", "11:00:00")],
    ["are within it", between("10:15:00", "10:45:00")],
    ["lie around it", between("09:00:00", "12:00:00")],
    ["begin with it and end sooner", between("10:00:00", "10:30:00")],
    ["begin later and end with it", between("10:30:00", "11:00:00")],
    ["end a millisecond after it begins", between("09:00:00", "10:00:00.001")],
    ["begin a millisecond before it ends", between("10:59:59.999", "12:00:00")],
    ["reach into it by the 24 hours of an open end", { datetime_start: "2100-05-31T10:00:00.001Z" }],
  ])("must not overlap another sub: refused if they %s", async (_, times) => {
    const { create, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    expectRefusal(await create(times), 422, /overlap/);
    expect(await listed()).toEqual([sub]);
  });

  it("must not overlap any of several subs", async () => {
    const { create, listed } = await aRoomWithSubstitute();
    const taken = [];
    for (const hour of ["08", "10", "12"])
      taken.push((await create(between(`${hour}:00:00`, `${hour}:30:00`))).body);
    expectRefusal(await create(between("07:00:00", "08:30:00")), 422, /overlap/);
    expectRefusal(await create(between("09:00:00", "10:01:00")), 422, /overlap/);
    expectRefusal(await create(between("12:29:00", "13:00:00")), 422, /overlap/);
    expectRefusal(await create(between("07:00:00", "13:00:00")), 422, /overlap/);
    expect(await listed()).toEqual(taken);
  });

  it("can be back to back", async () => {
    const { create, listed } = await aRoomWithSubstitute();
    const middle = await create(between("10:00:00", "11:00:00"));
    const before = await create(between("09:00:00", "10:00:00"));
    const after = await create(between("11:00:00", "12:00:00"));
    expect([middle, before, after].map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(await listed()).toEqual([before.body, middle.body, after.body]);
  });

  it("stay taken by a sub that is no longer filled", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const emptied = (await update(sub.id, { user_id: null })).body;
    expectRefusal(await create(FROM_TEN_TO_ELEVEN), 422, /overlap/);
    expect(await listed()).toEqual([emptied]);
  });

  it("are free again when the sub is deleted", async () => {
    const { create, remove, listed } = await aRoomWithSubstitute();
    expectGone(await remove((await create(FROM_TEN_TO_ELEVEN)).body.id));
    const second = await create(FROM_TEN_TO_ELEVEN);
    expect(second.status).toBe(201);
    expect(await listed()).toEqual([second.body]);
  });

  it("are 24 hours without an end, and the refusal of such an overlap says so", async () => {
    const { create } = await aRoomWithSubstitute();
    expect((await create(FROM_TEN_TO_ELEVEN)).status).toBe(201);
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
  it("shows an active sub, and leaves out one that is over, although it was accepted", async () => {
    const { create, listed } = await aRoomWithSubstitute();
    const over = await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) });
    const goingOn = await create({ datetime_start: fromNow(-30), datetime_end: fromNow(30) });
    expect([over.status, goingOn.status]).toEqual([201, 201]);
    expect(await listed()).toEqual([goingOn.body]);
  });

  it("leaves out a sub from the moment of its end", async () => {
    const { create, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    travelTo("2100-06-01T10:59:59.999Z");
    expect(await listed()).toEqual([sub]);
    travelTo("2100-06-01T11:00:00.000Z");
    expect(await listed()).toEqual([]);
  });

  it("shows only those of this room", async () => {
    const { clinic, substitute, create, listed } = await aRoomWithSubstitute();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const otherSub = (await other.create(FROM_TEN_TO_ELEVEN)).body;
    expect(await listed()).toEqual([sub]);
    expect(await other.listed()).toEqual([otherSub]);
  });

  it("is empty for a room without subs", async () => {
    const { clinic, path } = await aRoomWithSubstitute();
    expect(await clinic.client.get(path)).toMatchObject({ status: 200, body: { waiting_room_subs: [] } });
  });
});

describe("The slug that a sub shows", () => {
  it("is the current slug of the substitute's room", async () => {
    const { clinic, substitute, create, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const renamed = await clinic.client.put(`/waiting_rooms/${substitute.waiting_room_slug}`, {
      waiting_room: { name: "Evening Visits" },
    });
    expect(await listed()).toEqual([{ ...sub, sub_waiting_room_slug: renamed.body.slug }]);
  });

  it("stays with the sub, and the sub with its room, when the room is renamed", async () => {
    const { clinic, room, substitute, create } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const renamed = await clinic.client.put(`/waiting_rooms/${room.slug}`, {
      waiting_room: { name: "Heart Centre" },
    });
    expect(await subsOf(clinic, renamed.body.slug, substitute.user_id).listed()).toEqual([sub]);
  });
});

describe("Updating a waiting room sub", () => {
  it("changes the times that are given", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const updated = await update(sub.id, between("14:00:00", "15:00:00"));
    expect(updated.body).toEqual({
      ...sub,
      datetime_start: at("14:00:00.000"),
      datetime_end: at("15:00:00.000"),
      updated_at: aTimestamp,
    });
    expect(await listed()).toEqual([updated.body]);
  });

  it.each([
    ["the start", { datetime_start: at("10:59:59.999") }],
    ["the end", { datetime_end: at("10:00:00.001") }],
    ["nothing", {}],
  ])("with only %s keeps the other fields", async (_, change) => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const updated = await update(sub.id, change);
    expect(updated.body).toEqual({ ...sub, ...change, updated_at: aTimestamp });
    expect(await listed()).toEqual([updated.body]);
  });

  it("moves updated_at and not created_at", async () => {
    const { create, update } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    travelTo(fromNow(5));
    const updated = (await update(sub.id, { user_id: null })).body;
    expect(updated.created_at).toBe(sub.created_at);
    expect(Date.parse(updated.updated_at)).toBeGreaterThan(Date.parse(sub.updated_at));
  });

  it("hands the sub to another user", async () => {
    const { clinic, create, update, listed } = await aRoomWithSubstitute();
    const successor = await clinic.addProvider("Sue Successor");
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const updated = await update(sub.id, { user_id: successor.user_id });
    expect(updated.body).toEqual({
      ...sub,
      user_id: successor.user_id,
      sub_waiting_room_slug: successor.waiting_room_slug,
      updated_at: aTimestamp,
    });
    expect(await listed()).toEqual([updated.body]);
  });

  it("makes the sub unfilled with a null user_id, and fills it again", async () => {
    const { substitute, create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const emptied = await update(sub.id, { user_id: null });
    expect(emptied.body).toEqual({
      ...sub,
      user_id: null,
      sub_waiting_room_slug: null,
      updated_at: aTimestamp,
    });
    expect(await listed()).toEqual([emptied.body]);

    const moved = await update(sub.id, { datetime_end: at("10:30:00") });
    expect(moved.body).toMatchObject({ user_id: null, datetime_end: at("10:30:00.000") });

    const filled = await update(sub.id, { user_id: substitute.user_id, datetime_end: at("11:00:00") });
    expect(filled.body).toEqual({ ...sub, updated_at: aTimestamp });
  });

  it("does not overlap itself, and can reach to the next sub but not into it", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const next = (await create(between("12:00:00", "13:00:00"))).body;
    const longer = await update(sub.id, between("10:30:00", "12:00:00"));
    expect(longer.status).toBe(200);
    expectRefusal(await update(sub.id, { datetime_end: at("12:00:00.001") }), 422, /overlap/);
    expectRefusal(await update(next.id, { datetime_start: at("11:59:59.999") }), 422, /overlap/);
    expectRefusal(await update(next.id, between("09:00:00", "14:00:00")), 422, /overlap/);
    expect(await listed()).toEqual([longer.body, next]);
  });

  it("can move a sub past the next one", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const neighbour = (await create(between("12:00:00", "13:00:00"))).body;
    const moved = await update(sub.id, between("13:00:00", "14:00:00"));
    expect(moved.status).toBe(200);
    expect(await listed()).toEqual([neighbour, moved.body]);
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
    const { clinic, create, update } = await aRoomWithSubstitute();
    const other = await clinic.addRoom({ name: "Lungs" });
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const updated = await update(sub.id, {
      ...sub,
      id: sub.id + 1,
      waiting_room_id: other.id,
      sub_waiting_room_slug: "elsewhere",
      created_at: fromNow(-DAY),
    });
    expect(updated.body).toEqual({ ...sub, updated_at: aTimestamp });
  });

  it.each<[string, object, RegExp]>([
    ["a start at the stored end", { datetime_start: at("11:00:00") }, /waiting_room_sub/],
    ["an end at the stored start", { datetime_end: at("10:00:00") }, /waiting_room_sub/],
    ["a start after the stored end", { datetime_start: at("12:00:00") }, /waiting_room_sub/],
    ["an end before the stored start", { datetime_end: at("09:00:00") }, /waiting_room_sub/],
    ...FAULTY_FIELDS,
  ])("refuses %s with a text that names the field, and changes nothing", async (_, fault, field) => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    expectRefusal(await update(sub.id, fault), 422, field);
    expect(await listed()).toEqual([sub]);
  });

  it("refuses a substitute whom a new sub could not have, and changes nothing", async () => {
    const { clinic, substitute } = await aRoomWithSubstitute();
    const owner = await clinic.addProvider("Olga Owner");
    const assistant = await clinic.addUser("Al Assistant", ["provider_assistant"]);
    const stranger = await (await anOrganization("Hillside Clinic")).addProvider();
    const { create, update, listed } = subsOf(clinic, owner.waiting_room_slug, substitute.user_id);
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    for (const { user_id } of [owner, assistant, stranger]) {
      const refused = await update(sub.id, { user_id, ...between("14:00:00", "15:00:00") });
      expectRefusal(refused, 422, /waiting_room_sub\.user_id/);
    }
    expect(await listed()).toEqual([sub]);
  });

  it("gives 404 for a sub of another room, and for a deleted sub", async () => {
    const { clinic, substitute, create, update, remove, listed } = await aRoomWithSubstitute();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const gone = (await create(between("12:00:00", "13:00:00"))).body;
    expectGone(await remove(gone.id));

    expectRefusal(await other.update(sub.id, { user_id: null }), 404);
    expectRefusal(await update(gone.id, { user_id: null }), 404);
    expect(await listed()).toEqual([sub]);
    expect(await other.listed()).toEqual([]);
  });
});

describe("Deleting a waiting room sub", () => {
  it("deletes only this one", async () => {
    const { create, remove, listed } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    const other = (await create(between("12:00:00", "13:00:00"))).body;
    expectGone(await remove(sub.id));
    expect(await listed()).toEqual([other]);
  });

  it("is possible for one that is over and for one that is not filled", async () => {
    const { create, update, remove } = await aRoomWithSubstitute();
    const over = (await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) })).body;
    const empty = (await create(FROM_TEN_TO_ELEVEN)).body;
    await update(empty.id, { user_id: null });
    expectGone(await remove(over.id));
    expectGone(await remove(empty.id));
    expectRefusal(await remove(over.id), 404);
  });

  it("gives 404 for a sub of another room, and for a deleted sub", async () => {
    const { clinic, substitute, create, remove, listed } = await aRoomWithSubstitute();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    expectRefusal(await other.remove(sub.id), 404);
    expect(await listed()).toEqual([sub]);

    expectGone(await remove(sub.id));
    expectRefusal(await remove(sub.id), 404);
  });

  it("does not give its id to a later sub", async () => {
    const { create, remove } = await aRoomWithSubstitute();
    const sub = (await create(FROM_TEN_TO_ELEVEN)).body;
    expectGone(await remove(sub.id));
    expect((await create(FROM_TEN_TO_ELEVEN)).body.id).toBeGreaterThan(sub.id);
  });
});
