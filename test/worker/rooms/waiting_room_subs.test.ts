import { describe, expect, it } from "vitest";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization } from "../support/organization.ts";
import { fromNow } from "../support/time.ts";
import {
  aRoomWithSub,
  aRoomWithSubstitute,
  at,
  between,
  DAY,
  FROM_TEN_TO_ELEVEN,
  subsOf,
} from "../support/waiting_room_subs.ts";

describe("POST /waiting_rooms/{slug}/waiting_room_subs", () => {
  it.each([
    ["is left out", {}],
    ["is null", { datetime_end: null }],
  ])("lasts 24 hours if datetime_end %s", async (_, end) => {
    const { create } = await aRoomWithSubstitute();
    const created = await create({ datetime_start: "2100-02-28T09:30:00Z", ...end });
    expect(created.body).toMatchObject({
      datetime_start: "2100-02-28T09:30:00.000Z",
      datetime_end: "2100-03-01T09:30:00.000Z",
    });
  });
});

describe("POST and PUT of a waiting room sub", () => {
  it.each<[string, object, RegExp]>([
    ["an unknown user_id", { user_id: 999_999_999 }, /waiting_room_sub\.user_id/],
    ["a start at +000", { datetime_start: "2100-06-01T09:00:00+000" }, /waiting_room_sub\.datetime_start/],
    ["an end at the start", between("10:00:00", "10:00:00"), /waiting_room_sub\.datetime_end/],
    ["an end before the start", between("10:00:00", "09:59:59.999"), /waiting_room_sub\.datetime_end/],
    ["an end before the stored start", { datetime_end: at("09:00:00") }, /waiting_room_sub/],
  ])("refuse %s with an error that names the field", async (_, fault, field) => {
    const { create, listed, update, sub } = await aRoomWithSub();
    expectRefusal(await create({ ...FROM_TEN_TO_ELEVEN, ...fault }), 422, field);
    expectRefusal(await update(sub.id, fault), 422, field);
    expect(await listed()).toEqual([sub]);
  });

  it("refuse a user without a personal room, of another organization, or who owns the room", async () => {
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
  it("stay taken by a sub without a user, and are free again once it is deleted", async () => {
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

  it("are 24 hours without datetime_end, and the error of an overlap says so", async () => {
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

describe("GET /waiting_rooms/{slug}/waiting_room_subs", () => {
  it("shows the current slug of the substitute's room after rooms are renamed", async () => {
    const { clinic, room, substitute, sub } = await aRoomWithSub();
    const rename = async (slug: string, name: string) =>
      (await clinic.client.put(`/waiting_rooms/${slug}`, { waiting_room: { name } })).body.slug;
    const sub_waiting_room_slug = await rename(substitute.waiting_room_slug, "Evening Visits");
    const slug = await rename(room.slug, "Heart Centre");
    const { listed } = subsOf(clinic, slug, substitute.user_id);
    expect(await listed()).toEqual([{ ...sub, sub_waiting_room_slug }]);
  });
});

describe("PUT /waiting_rooms/{slug}/waiting_room_subs/{id}", () => {
  it("makes a sub that is over current again", async () => {
    const { create, update, listed } = await aRoomWithSubstitute();
    const over = await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) });
    expect(await listed()).toEqual([]);
    const updated = await update(over.body.id, { datetime_end: fromNow(30) });
    expect(updated.status).toBe(200);
    expect(await listed()).toEqual([updated.body]);
  });

  it("ignores unknown keys and stamped fields, and refuses another room", async () => {
    const { clinic, update, sub } = await aRoomWithSub();
    const other = await clinic.addRoom({ name: "Lungs" });
    const ignored = { id: sub.id + 1, created_at: fromNow(-DAY), color: "blue" };
    expect((await update(sub.id, { ...sub, ...ignored })).body).toEqual({ ...sub, updated_at: aTimestamp });
    for (const wish of [{ waiting_room_id: other.id }, { sub_waiting_room_slug: "elsewhere" }])
      expectRefusal(await update(sub.id, { ...sub, ...wish }), 422, /cannot be changed here/);
  });
});

it("DELETE /waiting_rooms/{slug}/waiting_room_subs/{id} deletes only this sub, even if it is over or has no user", async () => {
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
