import { expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

it("The user whom a report of a recording or of a waiting participant names must belong to the organization", async () => {
  const [own, foreign] = [await aCall(await anOrganization()), await aCall(await anOrganization())];
  const user_id = foreign.owner.id;
  const rita = { display_name: "Rita", role: "recipient", waiting_since: STARTED_AT };
  const waits = `/waiting_rooms/${own.room.slug}/participants/${unique("participant")}`;
  const records = `${own.url.replace(/calls.*/, "")}egresses/${unique("egress")}`;
  const egress = { call_key: own.key, status: "egress_ended" };
  for (const report of [
    (more: object) => platform.put(waits, { participant: { ...rita, ...more } }),
    (more: object) => platform.put(records, { egress: { ...egress, ...more } }),
  ]) {
    expectRefusal(await changingNothing(() => report({ user_id })), 422, /user of the organization/);
    expect((await report({ user_id: own.owner.id })).status).toBe(200);
  }
});
