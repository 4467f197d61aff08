import { describe, expect, it } from "vitest";
import { anAuditedEgress } from "../worker/support/egresses.ts";
import { expectRefusal } from "../worker/support/expectations.ts";
import { given } from "../worker/support/organization.ts";
import { aRoomWithSubstitute, between } from "../worker/support/waiting_room_subs.ts";

describe("Limits", () => {
  it("Default page: 1; default per_page: 25", async () => {
    const { clinic, audit } = await anAuditedEgress();
    for (const answer of [clinic.client.get("/waiting_rooms"), clinic.client.get("/invites"), audit()])
      expect((await given(answer)).pagination).toMatchObject({ current_page: 1, per_page: 25 });
  });

  // Presigned recording URL lifetime: egresses.test.ts, rule 4.

  it("Sub times: must not overlap another sub of the same room", async () => {
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
      between("10:15:00", "10:45:00"),
      between("09:59:59.999", "10:00:00"),
      between("11:59:59.999", "14:00:00"),
      between("12:00:00", "14:00:00.001"),
      between("13:00:00", "15:00:00"),
      { datetime_start: "2100-05-30T10:00:00.001Z" },
    ])
      expectRefusal(await create(times), 422, /overlap/);
    expect(await listed()).toEqual(taken);
  });
});
