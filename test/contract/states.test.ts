import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../worker/support/api.ts";
import { anEndedEgress, aStartingEgress } from "../worker/support/egresses.ts";
import { aTimestamp, expectGone, expectRefusal } from "../worker/support/expectations.ts";
import { accept } from "../worker/support/invites.ts";
import { anOrganization, given } from "../worker/support/organization.ts";
import { aCallToNote, SOAP_TEXT } from "../worker/support/soap_notes.ts";
import { fromNow, timeAhead, travelTo } from "../worker/support/time.ts";
import { aCallToTranscribe, says } from "../worker/support/transcripts.ts";
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
      await clinic.addRoom({ name: room.name });
      const provider = await clinic.addProvider();
      const before = await listed(clinic);
      expectGone(await retire(clinic, room.slug));

      const path = `/waiting_rooms/${room.slug}`;
      const waiting_room_sub = { user_id: provider.user_id, datetime_start: fromNow(10) };
      const participant = { display_name: "Rita", role: "recipient", waiting_since: fromNow(0) };
      expectRefusal(await clinic.client.get(path), 404);
      expectRefusal(await clinic.client.put(path, { waiting_room: { is_active: true } }), 404);
      expectRefusal(await clinic.client.delete(path), 404);
      expectRefusal(await clinic.client.get(`${path}/waiting_room_subs`), 404);
      expectRefusal(await clinic.client.post(`${path}/waiting_room_subs`, { waiting_room_sub }), 404);
      expectRefusal(await platform.get(path), 404);
      expectRefusal(await platform.put(`${path}/participants/rita`, { participant }), 404);
      expect(await listed(clinic)).toEqual(before.filter(({ id }: { id: number }) => id !== room.id));
      const { pagination } = (await clinic.client.get("/waiting_rooms")).body;
      expect(pagination.total_count).toBe(before.length - 1);
    },
  );

  it("DELETE: record kept for auditing", async () => {
    const { clinic, room } = await aClinicWithRoom({ name: "Cardiology", theme: "calm", is_active: true });
    const record = () =>
      env.DB.prepare("select * from waiting_rooms where id = ?")
        .bind(room.id)
        .first<Record<string, unknown>>();
    const before = await record();
    expect(before).toMatchObject({
      organization_id: clinic.id,
      name: "Cardiology",
      slug: room.slug,
      retired_at: null,
    });
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
    const ended = {
      ...reported,
      status: "egress_ended",
      is_stopped: true,
      ended_at: timeAhead(),
    };
    expect(await given(report(end))).toEqual({ ...ended, updated_at: timeAhead() });
    await changingNothing(() => given(report(end)));
  });

  it("an audit log entry of event update is written", async () => {
    const { reported, audit } = await anEndedEgress();
    const { audit_logs } = await given(audit(reported.id));
    expect(audit_logs).toMatchObject([{ event: "update" }, { event: "create" }]);
  });
});

describe("States and transitions: Transcript", () => {
  it.each([{}, { summary: null }])(
    "is_final false, processing completes, after call end: is_final true; summary is created after processing completes: %o",
    async (summary) => {
      const { call, paula, read } = await aCallToTranscribe();
      const lines = [says(paula, 0, 1)];
      const final = { is_final: true, lines, ...summary };
      await given(call.reportTranscript({ is_final: false, lines }));
      expect((await read()).body.is_final).toBe(false);
      const reported = await given(call.reportTranscript(final));
      expect(reported).toMatchObject({ summary: "", is_final: true });
      expect((await read()).body).toEqual(reported);
      const complete = await given(call.reportTranscript({ summary: "A greeting." }));
      expect(complete).toEqual({ ...reported, summary: "A greeting." });
      expect((await read()).body).toEqual(complete);
    },
  );
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
    const successor = await clinic.addProvider("Sue Successor");
    for (const { user_id, waiting_room_slug } of [
      successor,
      { user_id: null, waiting_room_slug: null },
      substitute,
    ]) {
      const updated = await update(sub.id, { user_id });
      const sub_waiting_room_slug = waiting_room_slug;
      expect(updated.body).toEqual({ ...sub, user_id, sub_waiting_room_slug, updated_at: aTimestamp });
      expect(await update(sub.id, {})).toMatchObject({ body: { user_id, sub_waiting_room_slug } });
      expect(await listed()).toMatchObject([{ user_id, sub_waiting_room_slug }]);
    }
  });
});
