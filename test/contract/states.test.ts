import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../worker/support/api.ts";
import { anEndedEgress, aStartingEgress } from "../worker/support/egresses.ts";
import { aTimestamp, expectGone, expectRefusal } from "../worker/support/expectations.ts";
import { accept } from "../worker/support/invites.ts";
import { anOrganization, given } from "../worker/support/organization.ts";
import { aCallToNote, SOAP_TEXT } from "../worker/support/soap_notes.ts";
import { fromNow, timeAhead, travelTo } from "../worker/support/time.ts";
import { aDraft } from "../worker/support/transcripts.ts";
import { changingNothing } from "../worker/support/unchanged.ts";
import { aRoomWithSub } from "../worker/support/waiting_room_subs.ts";
import { aClinicWithRoom, listed, retire } from "../worker/support/waiting_rooms.ts";

describe("States and transitions: Waiting room", () => {
  it.each([
    ["active", true],
    ["inactive", false],
  ])(
    "%s (organization-owned), DELETE, not in use: retired; removed from listings; cannot be accessed or joined; cannot be undone through the interface",
    async (_, is_active) => {
      const { clinic, room } = await aClinicWithRoom({ is_active });
      const other = await clinic.addRoom({ name: room.name });
      expectGone(await retire(clinic, room.slug));
      const path = `/waiting_rooms/${room.slug}`;
      const participant = { display_name: "Rita", role: "recipient", waiting_since: fromNow(0) };
      for (const refused of [
        clinic.client.get(path),
        clinic.client.put(path, { waiting_room: { is_active: true } }),
        clinic.client.delete(path),
        clinic.client.get(`${path}/waiting_room_subs`),
        platform.get(path),
        platform.put(`${path}/participants/rita`, { participant }),
      ])
        expectRefusal(await refused, 404);
      expect(await listed(clinic)).toEqual([other]);
    },
  );

  it("DELETE: record kept for auditing", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology", theme: "calm", is_active: true });
    const record = () =>
      env.DB.prepare("select * from waiting_rooms where id = ?")
        .bind(room.id)
        .first<Record<string, unknown>>();
    const before = await record();
    expect(before).toMatchObject({ name: "Cardiology", slug: room.slug, retired_at: null });
    travelTo(fromNow(5));
    expectGone(await retire(clinic, room.slug));
    expect(await record()).toEqual({ ...before, retired_at: Date.now(), updated_at: expect.any(Number) });
  });
});

describe("States and transitions: Egress", () => {
  it("status egress_starting, is_stopped false, ended_at null, a recorded update: status egress_ended, is_stopped true, ended_at set", async () => {
    const { report, reported } = await aStartingEgress();
    travelTo(timeAhead());
    const end = { status: "egress_ended", is_stopped: false, ended_at: null };
    const now = timeAhead();
    const ended = { ...reported, status: "egress_ended", is_stopped: true, ended_at: now, updated_at: now };
    expect(await given(report(end))).toEqual(ended);
    await changingNothing(() => given(report(end)));
  });

  it("an audit log entry of event update is written", async () => {
    const { reported, audit } = await anEndedEgress();
    const { audit_logs } = await given(audit(reported.id));
    expect(audit_logs).toMatchObject([{ event: "update" }, { event: "create" }]);
  });
});

describe("States and transitions: Transcript", () => {
  it("is_final false, processing completes, after call end: is_final true; summary is created after processing completes", async () => {
    const { call, reported, read } = await aDraft();
    expect((await read()).body.is_final).toBe(false);
    await given(call.reportTranscript({ summary: null, is_final: true }));
    expect((await read()).body).toEqual({ ...reported, summary: "", is_final: true });
    await given(call.reportTranscript({ summary: "A summary." }));
    expect((await read()).body).toEqual({ ...reported, summary: "A summary.", is_final: true });
  });
});

describe("States and transitions: SOAP note", () => {
  it("is_final false, processing completes, after transcript processing: is_final true", async () => {
    const { call, read } = await aCallToNote();
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    const draft = await given(call.reportSoapNote({ text: SOAP_TEXT, is_final: false }));
    expect((await read()).body).toEqual({ ...draft, is_final: false });
    await given(call.reportSoapNote({ is_final: true }));
    expect((await read()).body).toEqual({ ...draft, is_final: true });
  });
});

describe("States and transitions: Invite", () => {
  it("pending (used_at null), invitee accepts, before expires_at: used (used_at set)", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    expect(invite.used_at).toBeNull();
    const usedAt = fromNow(90);
    travelTo(usedAt);
    expect(await accept(invite)).toMatchObject({ status: 200 });
    const { client } = clinic;
    const used = { ...invite, used_at: usedAt, updated_at: usedAt };
    expect(await given(client.get(`/invites/${invite.id}`))).toEqual(used);
    expect((await given(client.get("/invites"))).organization_invites).toEqual([]);
  });
});

describe("States and transitions: Waiting room sub", () => {
  it("unfilled (user_id null and sub_waiting_room_slug null), filling: filled", async () => {
    const { clinic, substitute, update, listed, sub } = await aRoomWithSub();
    const nobody = { user_id: null, waiting_room_slug: null };
    const successor = await clinic.addProvider("Sue Successor");
    for (const { user_id, waiting_room_slug: sub_waiting_room_slug } of [successor, nobody, substitute]) {
      const updated = await given(update(sub.id, { user_id }));
      expect(updated).toEqual({ ...sub, user_id, sub_waiting_room_slug, updated_at: aTimestamp });
      expect(await listed()).toEqual([updated]);
    }
  });
});
