import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, reportCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { aLiveKitRoom, at, delivered, inSeconds } from "../support/livekit.ts";
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

describe("external_reference in LiveKit's events", () => {
  /** A room whose metadata carries a reference when Rita joins. */
  const aRoom = async (clinic: Organization) => {
    const room = await aLiveKitRoom(clinic);
    const says = (external_reference: unknown, seconds: number, said: object = {}) =>
      room.event("participant_joined", seconds, {
        participant: { sid: "PA_rita", identity: "rita", joinedAt: inSeconds(seconds), ...said },
        room: {
          sid: room.sid,
          name: room.name,
          metadata: JSON.stringify({
            waiting_room_slug: room.waitingRoom.slug,
            organization_user_id: room.owner.id,
            external_reference,
          }),
        },
      });
    return { ...room, says };
  };
  const withReference = (external_reference: string) => ({ attributes: { external_reference } });

  it("is ignored if it is invalid, while the rest of the event counts", async () => {
    const clinic = await anOrganization();
    const room = await aRoom(clinic);
    const unusable = ["", " ", "x".repeat(256), "a\nb", null, {}];
    await delivered(unusable.map((reference, n) => room.says(reference, n)));
    await delivered([room.joined("rita", 10, withReference("x".repeat(256)))]);
    expect(await referencesOf(clinic)).toEqual({ calls: [null], participants: [null] });
    await delivered([room.says("visit-1", 11), room.says("", 12)]);
    expect((await referencesOf(clinic)).calls).toEqual(["visit-1"]);
  });

  it("does not replace a corrected reference, even in a later event", async () => {
    const clinic = await anOrganization();
    const room = await aRoom(clinic);
    const said = withReference("patient-1");
    await delivered([room.says("visit-1", 1, said)]);
    const rita = { key: "rita", external_reference: "patient-2" };
    const corrected = { external_reference: "visit-2", participants: [rita] };
    await given(reportCall(clinic, room.sid, corrected, { reported_at: at(30) }));
    await delivered([room.says("visit-1", 5), room.says("visit-1", 0), room.left("rita", 60, 1, said)]);
    expect(await referencesOf(clinic)).toEqual({ calls: ["visit-2"], participants: ["patient-2"] });
    await delivered([room.says("visit-3", 71, withReference("patient-3"))]);
    expect(await referencesOf(clinic)).toEqual({ calls: ["visit-2"], participants: ["patient-2"] });
  });
});
