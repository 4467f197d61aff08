import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, ENDED_AT, reportCall, reportEgress, STARTED_AT } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anEgressId } from "../support/livekit.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

/** Values of `reported_at`, oldest first. */
const [FIRST, SECOND, THIRD] = ["2026-01-31T11:00:00Z", "2026-01-31T11:00:01Z", "2026-01-31T11:00:02Z"];
const made = (reported_at: string) => ({ reported_at });

describe("A report that is older than the newest one", () => {
  it("fills in missing fields of a call, but changes neither its owner nor its reference", async () => {
    const clinic = await anOrganization();
    const [paula, sam] = [await clinic.addProvider(), await clinic.addProvider("Sam Substitute")];
    const { slug } = await clinic.addRoom();
    const key = unique("call");
    const report = (call: object, more?: object) => reportCall(clinic, key, call, more);
    const visit = { waiting_room_slug: slug, organization_user_id: paula.id, started_at: STARTED_AT };
    const first = { ...visit, external_reference: "visit-1" };
    await given(report(first, made(FIRST)));
    const corrected = { organization_user_id: sam.id, external_reference: null };
    await given(report(corrected, made(THIRD)));
    await changingNothing(() => given(report(first, made(FIRST))));
    const end = { organization_user_id: paula.id, ended_at: ENDED_AT, failed: true };
    const ended = await given(report(end, made(SECOND)));
    expect(ended).toMatchObject({ ...corrected, ended_at: ENDED_AT, failed: true });
    await given(report({ failed: false }, made(FIRST)));
    expect((await given(report({}))).failed).toBe(true);
  });

  it("does not change a draft text, but still makes it final", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const [paula] = call.participants;
    const line = { participant_key: paula.key, text: "Hello", start_time: 0, end_time: 1 };
    const draft = { is_final: false, lines: [line], summary: "Corrected" };
    await given(call.reportTranscript(draft, made(SECOND)));
    await given(call.reportSoapNote({ text: "Corrected", is_final: false }, made(SECOND)));
    const old = { ...draft, lines: [], summary: "Old" };
    await changingNothing(() => given(call.reportTranscript(old, made(FIRST))));
    await changingNothing(() => given(call.reportSoapNote({ text: "Old", is_final: false }, made(FIRST))));
    await given(call.reportTranscript({ is_final: true }, made(FIRST)));
    await given(call.reportSoapNote({ text: "Final", is_final: true }, made(FIRST)));
    expect((await given(clinic.client.get(`${call.path}/soap_note`))).text).toBe("Final");
    const late = await changingNothing(() => given(call.reportTranscript(draft, made(FIRST))));
    expect(late).toMatchObject({ summary: "Corrected", is_final: true });
    expectRefusal(await call.reportTranscript({ summary: "New" }), 422, /final/);
  });

  it("does not restart a legal hold that was ended, but a newer report does", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const held = { legal_hold: true };
    const before = fromNow(-1);
    expect((await given(call.report(held, made(before)))).legal_hold).not.toBeNull();
    await given(call.release());
    for (const late of [{}, made(before)])
      expect((await given(call.report(held, late))).legal_hold).toBeNull();
    const later = made(new Date(Date.now() + 30_000).toISOString());
    expect((await given(call.report(held, later))).legal_hold).not.toBeNull();
  });
});

describe("A time more than a minute in the future", () => {
  const soon = () => new Date(Date.now() + 70_000).toISOString();

  it("is refused in every field of a report, and changes nothing", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const call = await aCall(clinic);
    const person = (fields: object) => ({ participants: [aRecipient(fields)] });
    const waits = (participant: object, more: object = {}) =>
      platform.put(`/waiting_rooms/${room.slug}/participants/rita`, { participant, ...more });
    const rita = { display_name: "Rita", role: "recipient", waiting_since: STARTED_AT };
    for (const [field, report] of [
      ["call.started_at", () => call.report({ started_at: soon() })],
      ["call.ended_at", () => call.report({ ended_at: soon() })],
      ["call.participants.0.joined_at", () => call.report(person({ joined_at: soon() }))],
      ["call.participants.0.waiting_since", () => call.report(person({ waiting_since: soon() }))],
      ["call.participants.0.left_at", () => call.report(person({ left_at: soon() }))],
      ["reported_at", () => call.report({}, made(soon()))],
      ["participant.waiting_since", () => waits({ ...rita, waiting_since: soon() })],
      ["participant.left_at", () => waits({ ...rita, left_at: soon() })],
      ["reported_at", () => waits(rita, made(soon()))],
      ["reported_at", () => call.reportTranscript({}, made(soon()))],
      ["reported_at", () => call.reportSoapNote({}, made(soon()))],
      ["egress.ended_at", () => reportEgress(clinic, anEgressId(), { call_key: call.key, ended_at: soon() })],
    ] as const)
      expectRefusal(
        await changingNothing(report),
        422,
        new RegExp(`^${field}: must not be more than 60 seconds`),
      );
  });
});

describe("The egress.ended event", () => {
  async function anOngoingRecording(recording_consent: boolean) {
    const clinic = await anOrganization();
    const rita = aRecipient({ recording_consent });
    const call = await aCall(clinic, { ended_at: null, participants: [rita] });
    const egress = await call.addEgress();
    const ended = async () => (await given(clinic.client.get("/events?type=egress.ended"))).events;
    return { call, rita, egress, ended };
  }

  it("comes once, when the call has ended and everybody has consented", async () => {
    const { call, rita, egress, ended } = await anOngoingRecording(false);
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await ended()).toEqual([]);
    for (const recording_consent of [true, false, true]) {
      const recording_consent_at = new Date().toISOString();
      const decision = { key: rita.key, recording_consent, recording_consent_at };
      await given(call.report({ participants: [decision] }));
      travelTo(fromNow(1));
    }
    expect(await ended()).toMatchObject([{ data: { call_id: call.id, egress_id: egress.id } }]);
  });

  it("does not come if the report that ends the call adds a participant without consent", async () => {
    const { call, ended } = await anOngoingRecording(true);
    const ron = aRecipient({ key: unique("ron"), recording_consent: undefined });
    await given(call.report({ ended_at: ENDED_AT, participants: [ron] }));
    expect(await ended()).toEqual([]);
  });
});
