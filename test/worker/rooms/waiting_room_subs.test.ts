import { describe, expect, it } from "vitest";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization } from "../support/organization.ts";
import {
  aRoomWithSub,
  aRoomWithSubstitute,
  at,
  between,
  FROM_TEN_TO_ELEVEN,
  subsOf,
} from "../support/waiting_room_subs.ts";

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
