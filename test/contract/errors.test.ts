import { describe, expect, it } from "vitest";
import { aClinic as aClinicWithCalls, ask, BOTH_DAYS, twoProviders } from "../worker/support/call_metrics.ts";
import {
  aCall,
  aRecipient,
  ENDED_AT,
  inaccessiblePaths,
  STARTED_AT,
  WAITING_SINCE,
  waitingCount,
} from "../worker/support/calls.ts";
import { expectGone, expectRefusal } from "../worker/support/expectations.ts";
import { hasPendingInvite } from "../worker/support/invites.ts";
import { anInvite, anOrganization, given, type Organization } from "../worker/support/organization.ts";
import { aCallWithResults } from "../worker/support/reach.ts";
import { fromNow } from "../worker/support/time.ts";
import { changingNothing } from "../worker/support/unchanged.ts";
import { aRoomWithSub, at, between, subsOf } from "../worker/support/waiting_room_subs.ts";
import { aClinicWithRoom, create, leave, read, retire, update } from "../worker/support/waiting_rooms.ts";

/** Slugs without a room of the clinic: of no room, and of another organization's. */
async function otherSlugs({ slug }: { slug: string }) {
  const { room } = await aClinicWithRoom();
  return [`${slug}-nowhere`, room.slug as string];
}

it("Error bodies seen have the shape {error: <string>}.", async () => {
  const { client } = await anOrganization();
  for (const [status, { status: seen, body }] of [
    [400, await client.get("/call_metrics?date_start=x")],
    [401, await client.post("/auth/token_exchange", { token_exchange: { token: "x" } })],
    [404, await client.get("/waiting_rooms/nowhere")],
    [422, await client.post("/waiting_rooms", { waiting_room: { name: " " } })],
  ] as const)
    expect({ status: seen, body }).toEqual({ status, body: { error: expect.any(String) } });
});

describe("400", () => {
  it("call metrics: bad request; body {error: <string>}", async () => {
    const clinic = await anOrganization();
    const both = await ask(clinic, "?date_start=2026-02-29&date_end=yesterday");
    expectRefusal(both, 400, /date_start.*date_end/);
    expectRefusal(await ask(clinic, "?user_id=1&user_id=2"), 400, "user_id: is given twice: give it once");
  });
});

// 401: authentication.test.ts, 5.

describe("404", () => {
  it("waiting room get, update, retire; waiting room sub list, create, update, delete: the room does not exist or is not accessible; or the sub", async () => {
    const { clinic, substitute, listed, remove, update: updateSub, sub } = await aRoomWithSub();
    const { slug } = await clinic.addRoom({ name: "Lungs" });
    for (const other of await otherSlugs(clinic)) {
      expectRefusal(await read(clinic, other), 404);
      expectRefusal(await update(clinic, other, { is_active: true }), 404);
      expectRefusal(await retire(clinic, other), 404);
      const { path, create } = subsOf(clinic, other, substitute.user_id);
      expectRefusal(await clinic.client.get(path), 404);
      expectRefusal(await create(), 404);
    }
    for (const other of [slug, ...(await otherSlugs(clinic))]) {
      const subs = subsOf(clinic, other, substitute.user_id);
      expectRefusal(await subs.update(sub.id, { user_id: null }), 404);
      expectRefusal(await subs.remove(sub.id), 404);
    }
    expectRefusal(await updateSub(sub.id + 1, { user_id: null }), 404);
    expectRefusal(await remove(sub.id + 1), 404);
    expect(await listed()).toEqual([sub]);
  });

  it("call metrics: body {error: <string>}", async () => {
    const { clinic } = await twoProviders();
    const stranger = await aClinicWithCalls();
    await stranger.hold();
    for (const user_id of [stranger.provider.user_id, 999_999_999])
      expectRefusal(await ask(clinic, `?${BOTH_DAYS}&user_id=${user_id}`), 404);
  });

  it.each([
    ["transcript, SOAP note", "/transcript"],
    ["transcript, SOAP note", "/soap_note"],
    ["egress list", "/egresses"],
    ["egress get, audit logs", "/egresses/EGRESS"],
    ["egress get, audit logs", "/egresses/EGRESS/audit_logs"],
  ])("%s: organization user or call does not exist or is not accessible: %s", async (_, tail) => {
    const clinic = await anOrganization();
    const { call, egress } = await aCallWithResults(clinic);
    const colleague = await clinic.addProvider("Peter Provider");
    const theirs = await aCall(await anOrganization());
    const below = tail.replace("EGRESS", String(egress.id));
    await changingNothing(async () => {
      for (const path of inaccessiblePaths(call, theirs, colleague))
        expectRefusal(await clinic.client.get(path + below), 404);
    });
  });

  it("transcript, SOAP note: no transcript or SOAP note exists for the call (for example very short calls or technical issues)", async () => {
    const clinic = await anOrganization();
    const [heard, noted] = [await aCall(clinic, { ended_at: STARTED_AT }), await aCall(clinic)];
    await given(heard.reportTranscript({ is_final: true, lines: [] }));
    await given(noted.reportSoapNote({ is_final: true, text: "Plan: rest." }));
    expectRefusal(await clinic.client.get(`${heard.path}/soap_note`), 404, "SOAP note not found");
    expectRefusal(await clinic.client.get(`${noted.path}/transcript`), 404, "Transcript not found");
  });

  it("egress get, audit logs: egress does not exist, or belongs to another call (rule 6); audit logs also when the egress does not belong to the call", async () => {
    const clinic = await anOrganization();
    const { call, egress } = await aCallWithResults(clinic);
    const another = await aCall(clinic, {}, call.owner);
    for (const below of ["", "/audit_logs"]) {
      expectRefusal(await clinic.client.get(`${call.path}/egresses/999999999${below}`), 404);
      expectRefusal(await clinic.client.get(`${another.path}/egresses/${egress.id}${below}`), 404);
    }
  });
});

describe("422", () => {
  it("waiting room create, update: validation fails (for example a blank name)", async () => {
    const { clinic, room } = await aClinicWithRoom();
    await changingNothing(async () => {
      expectRefusal(await create(clinic, { name: " " }), 422, /^waiting_room\.name: .*blank/);
      expectRefusal(await update(clinic, room.slug, { name: " " }), 422, /^waiting_room\.name: .*blank/);
    });
  });

  it("waiting room retire: the room is in use (active participants)", async () => {
    const { clinic, room } = await aClinicWithRoom();
    const elsewhere = await clinic.addRoom();
    for (const [slug, key] of [
      [room.slug, "rita"],
      [room.slug, "paul"],
      [elsewhere.slug, "olga"],
    ] as const)
      await clinic.addParticipant(slug, { waiting_since: fromNow(-10) }, key);
    await leave(room.slug, "rita");
    for (const is_active of [true, false]) {
      const known = await given(update(clinic, room.slug, { is_active }));
      expectRefusal(await retire(clinic, room.slug), 422);
      expect((await read(clinic, room.slug)).body).toEqual({ ...known, waiting_count: 1 });
    }
    await leave(room.slug, "paul");
    expectGone(await retire(clinic, room.slug));
    expectRefusal(await read(clinic, room.slug), 404);
    expect((await read(clinic, elsewhere.slug)).body.waiting_count).toBe(1);
  });

  it("waiting room retire: the room is in use (an ongoing call)", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT });
    const call = await aCall(clinic, { ended_at: undefined, participants: [rita] });
    expect(await waitingCount(clinic, call.room.slug)).toBe(0);
    expectRefusal(await retire(clinic, call.room.slug), 422, /in use/);
    await given(call.report({ ended_at: ENDED_AT }));
    expect(await waitingCount(clinic, call.room.slug)).toBe(0);
    expectGone(await retire(clinic, call.room.slug));
  });

  it("waiting room retire: or it is a personal room", async () => {
    const clinic = await anOrganization();
    const { waiting_room_slug } = await clinic.addProvider();
    const before = await given(read(clinic, waiting_room_slug));
    expectRefusal(await retire(clinic, waiting_room_slug), 422);
    expect((await read(clinic, waiting_room_slug)).body).toEqual(before);
  });

  it("waiting room sub create, update: the times overlap an existing sub of the room", async () => {
    const { create, update, listed, sub } = await aRoomWithSub();
    const next = (await create(between("12:00:00", "13:00:00"))).body;
    expectRefusal(await create(between("12:30:00", "14:00:00")), 422, /overlap/);
    const longer = await update(sub.id, between("10:30:00", "12:00:00"));
    expect(longer.status).toBe(200);
    expectRefusal(await update(sub.id, { datetime_end: at("12:00:00.001") }), 422, /overlap/);
    expectRefusal(await update(next.id, { datetime_start: at("11:59:59.999") }), 422, /overlap/);
    expectRefusal(await update(next.id, between("09:00:00", "14:00:00")), 422, /overlap/);
    expect(await listed()).toEqual([longer.body, next]);
    const moved = await update(sub.id, between("13:00:00", "14:00:00"));
    expect(moved.status).toBe(200);
    expect(await listed()).toEqual([next, moved.body]);
  });

  const invite = ({ client }: Organization, more: object) =>
    client.post("/invites", { organization_invite: anInvite(more) });

  it.each<[string, (email: string) => string]>([
    ["as it is", (email) => email],
    ["in capitals", (email) => email.toUpperCase()],
    ["with spaces around it", (email) => ` \t${email} `],
  ])(
    "invite create: the email already has a pending invite or an account in the organization: %s",
    async (_, write) => {
      const clinic = await anOrganization();
      const [pending, { email }] = [await clinic.addInvite(), await clinic.addProvider()];
      const again = {
        email: write(pending.email),
        display_name: "Usurper",
        role_names: ["organization_admin"],
      };
      expectRefusal(
        await changingNothing(() => invite(clinic, again)),
        422,
        `organization_invite.email: ${hasPendingInvite(pending)}`,
      );
      expectRefusal(
        await changingNothing(() => invite(clinic, { email: write(email) })),
        422,
        "organization_invite.email: has an account in the organization: change that organization user instead",
      );
    },
  );
});
