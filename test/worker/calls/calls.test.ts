import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { aCall, reportCall, STARTED_AT } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

describe("The first PUT …/calls/{key}", () => {
  it.each([
    ["2026-01-31T23:30:00.5+05:30", "2026-01-31T13:00:00-06:00"],
    ["2026-01-31T23:30:00.5+0530", "2026-01-31T13:00:00-0600"],
    ["2026-01-31T19:00:00.5+01", "2026-01-31T13:00-06"],
    ["2026-01-31t18:00:00.5z", "2026-01-31T19:00z"],
  ])("accepts times with any offset, and returns them in UTC: %s, %s", async (started_at, ended_at) => {
    const call = await aCall(await anOrganization(), { started_at, ended_at });
    expect((await call.report({})).body).toMatchObject({
      started_at: "2026-01-31T18:00:00.500Z",
      ended_at: "2026-01-31T19:00:00.000Z",
    });
  });

  it("accepts a key of any 255 characters, and distinguishes upper case", async () => {
    const clinic = await anOrganization();
    const { owner, room } = await aCall(clinic);
    const first = { waiting_room_slug: room.slug, organization_user_id: owner.id, started_at: STARTED_AT };
    const key = `${unique("visit/1 ü")}${"k".repeat(255)}`.slice(0, 255);
    const { body } = await reportCall(clinic, key, first);
    expect(body.key).toBe(key);
    expect((await reportCall(clinic, key, {})).body).toEqual(body);
    expect((await reportCall(clinic, key.toUpperCase(), first)).body.id).not.toBe(body.id);
  });
});

describe("PUT …/calls/{call_id}", () => {
  async function aReferredCall() {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    const refer = (external_reference: string | null) =>
      clinic.client.put(call.path, { call: { external_reference } });
    return { clinic, refer };
  }

  it("cannot set a reference that was erased, and clearing it changes nothing", async () => {
    const { clinic, refer } = await aReferredCall();
    const erasure = "update participants set erased_at = 1 where organization_id = ?";
    await env.DB.prepare(erasure).bind(clinic.id).run();
    const refused = await changingNothing(() => refer("rita-2026"));
    expectRefusal(refused, 422, /^call\.external_reference: was erased/);
    expect((await changingNothing(() => given(refer(null)))).external_reference).toBeNull();
  });

  it("writes the reference into no event", async () => {
    const { clinic, refer } = await aReferredCall();
    await given(refer("rita-2027"));
    const events = await storedRows(clinic, "events");
    expect(events.length).toBeGreaterThan(0);
    expect(JSON.stringify(events)).not.toMatch(/rita/);
  });
});
