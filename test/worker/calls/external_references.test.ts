import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

/** The references of an organization's calls and participants, oldest first. */
async function referencesOf(organization: Organization) {
  const referencesIn = async (table: string) =>
    (await storedRows(organization, table)).map((row) => row.external_reference);
  return { calls: await referencesIn("calls"), participants: await referencesIn("people") };
}

describe("A call's external_reference in PUT …/calls/{key}", () => {
  it("is set by a report, kept by a report without it, and cleared by null", async () => {
    const call = await aCall(await anOrganization(), { external_reference: "visit-10482" });
    expect((await call.report({ failed: true })).body.external_reference).toBe("visit-10482");
    expect((await call.report({ external_reference: "visit-2" })).body.external_reference).toBe("visit-2");
    await changingNothing(() => given(call.report({ external_reference: "visit-2" })));
    expect((await call.report({ external_reference: null })).body.external_reference).toBeNull();
    expect((await given(platform.get(call.url))).external_reference).toBeNull();
  });

  it.each([
    ["one character", "7"],
    ["255 characters", "ü".repeat(255)],
    ["text with spaces, which are kept", " Visit 7/2026 "],
  ])("may be %s, and may be the same on another call", async (_, external_reference) => {
    const clinic = await anOrganization();
    for (const call of [await aCall(clinic), await aCall(clinic)])
      expect((await given(call.report({ external_reference }))).external_reference).toBe(external_reference);
  });
});

it("A participant's external_reference is set, kept and cleared in the waiting room and by PUT …/calls/{key}", async () => {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const key = unique("rita");
  const waits = (participant: object) => clinic.addParticipant(room.slug, participant, key);
  const expectReference = async (reference: string | null) =>
    expect((await referencesOf(clinic)).participants).toEqual([reference]);
  await waits({ external_reference: "patient-4711" });
  await waits({ display_name: "Rita R." });
  await expectReference("patient-4711");
  await waits({ external_reference: null });
  await expectReference(null);
  await waits({ external_reference: "patient-1" });
  const call = await aCall(clinic, { participants: [{ key, display_name: "Rita" }], ended_at: null });
  await expectReference("patient-1");
  await given(call.report({ participants: [{ key, external_reference: "patient-2" }] }));
  await expectReference("patient-2");
  await changingNothing(() =>
    given(call.report({ participants: [{ key, external_reference: "patient-2" }] })),
  );
  await given(call.report({ participants: [{ key, external_reference: null }] }));
  await expectReference(null);
});
