import { describe, expect, it } from "vitest";
import { aTimestamp, expectGone, expectRefusal } from "../../worker/support/expectations.ts";
import { given } from "../../worker/support/organization.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import {
  aRoomWithSub,
  aRoomWithSubstitute,
  at,
  between,
  FROM_TEN_TO_ELEVEN,
  subsOf,
} from "../../worker/support/waiting_room_subs.ts";

const NOT_IN_UTC = "must be in UTC: end in Z or +00:00";

const START = "waiting_room_sub.datetime_start";
const END = "waiting_room_sub.datetime_end";

describe("GET /waiting_rooms/{waiting_room_slug}/waiting_room_subs", () => {
  it("only subs in the future", async () => {
    const { create, listed, sub } = await aRoomWithSub();
    expect((await create({ datetime_start: fromNow(-60), datetime_end: fromNow(-30) })).status).toBe(201);
    travelTo("2100-06-01T10:59:59.999Z");
    expect(await listed()).toEqual([sub]);
    travelTo("2100-06-01T11:00:00.000Z");
    expect(await listed()).toEqual([]);
  });

  it("for that room", async () => {
    const { clinic, substitute, listed, sub } = await aRoomWithSub();
    const other = subsOf(clinic, (await clinic.addRoom({ name: "Lungs" })).slug, substitute.user_id);
    expect(await other.listed()).toEqual([]);
    const otherSub = (await other.create(FROM_TEN_TO_ELEVEN)).body;
    expect(await listed()).toEqual([sub]);
    expect(await other.listed()).toEqual([otherSub]);
  });
});

describe("POST /waiting_rooms/{waiting_room_slug}/waiting_room_subs", () => {
  it("waiting_room_sub object (required): user_id (integer, required)", async () => {
    const { clinic, path, create, listed } = await aRoomWithSubstitute();
    expectRefusal(await clinic.client.post(path, {}), 422, "waiting_room_sub: is required");
    expectRefusal(await create({ user_id: undefined }), 422, "waiting_room_sub.user_id: is required");
    expect(await listed()).toEqual([]);
  });

  it("datetime_start (string, required, ISO 8601, must be UTC)", async () => {
    const { create, remove, listed } = await aRoomWithSubstitute();
    expectRefusal(await create({ datetime_start: undefined }), 422, `${START}: is required`);
    for (const datetime_start of ["2100-06-01T10:00:00", "2100-06-01T12:00:00+02:00", "tomorrow"])
      expectRefusal(await create({ datetime_start }), 422, `${START}: ${NOT_IN_UTC}`);
    expect(await listed()).toEqual([]);
    for (const time of ["10:00:00Z", "10:00Z", "10:00:00z", "10:00:00+00:00", "10:00:00+0000", "10:00+00"]) {
      const datetime_start = `2100-06-01T${time}`;
      const created = await create({ datetime_start, datetime_end: "2100-06-01T10:00:00.001+00:00" });
      expect(created.body).toMatchObject({
        datetime_start: "2100-06-01T10:00:00.000Z",
        datetime_end: "2100-06-01T10:00:00.001Z",
      });
      expectGone(await remove(created.body.id));
    }
  });

  it("datetime_end (string, optional, ISO 8601, must be UTC)", async () => {
    const { create } = await aRoomWithSubstitute();
    const end = (datetime_end?: string) => create({ datetime_start: at("10:00:00"), datetime_end });
    for (const datetime_end of ["2100-06-01T11:00:00", "2100-06-01T13:00:00+02:00", "tomorrow"])
      expectRefusal(await end(datetime_end), 422, `${END}: ${NOT_IN_UTC}`);
    expect((await end()).status).toBe(201);
  });

  it("sub object", async () => {
    const { room, substitute, listed, sub } = await aRoomWithSub();
    expect(sub).toEqual({
      id: expect.any(Number),
      waiting_room_id: room.id,
      user_id: substitute.user_id,
      sub_waiting_room_slug: substitute.waiting_room_slug,
      ...FROM_TEN_TO_ELEVEN,
      created_at: aTimestamp,
      updated_at: sub.created_at,
    });
    expect(await listed()).toEqual([sub]);
  });
});

describe("PUT /waiting_rooms/{waiting_room_slug}/waiting_room_subs/{id}", () => {
  it("waiting_room_sub object (required): datetime_start (string, optional), datetime_end (string, optional); updated sub object", async () => {
    const { clinic, path, update, listed, sub } = await aRoomWithSub();
    const refused = await clinic.client.put(`${path}/${sub.id}`, {});
    expectRefusal(refused, 422, "waiting_room_sub: is required");
    let known = sub;
    for (const [change, moved] of [
      [{ datetime_start: at("10:59:59.999") }, { datetime_end: at("11:59:59.999") }],
      [{ datetime_end: at("12:00:00.000") }],
      [{}],
    ]) {
      const updated_at = fromNow(5);
      travelTo(updated_at);
      known = { ...known, ...change, ...moved, updated_at };
      expect((await update(sub.id, change as object)).body).toEqual(known);
      expect(await listed()).toEqual([known]);
    }
  });
});

describe("Waiting room subs", () => {
  it("Path: waiting_room_slug (string), id (integer, sub id). DELETE: 204, empty", async () => {
    const { clinic, path, create, listed, sub } = await aRoomWithSub();
    const other = await given(create(between("12:00:00", "13:00:00")));
    expectGone(await clinic.client.delete(`${path}/${sub.id}`));
    expect(await listed()).toEqual([other]);
  });
});
