import { describe, expect, it } from "vitest";
import { aClinic as aClinicWithCalls, ask, BOTH_DAYS } from "../worker/support/call_metrics.ts";
import {
  aCall,
  aRecipient,
  ENDED_AT,
  inaccessiblePaths,
  STARTED_AT,
  WAITING_SINCE,
} from "../worker/support/calls.ts";
import { expectGone, expectRefusal } from "../worker/support/expectations.ts";
import { create as createInvite, hasPendingInvite } from "../worker/support/invites.ts";
import { anOrganization, given } from "../worker/support/organization.ts";
import { aCallWithResults } from "../worker/support/reach.ts";
import { fromNow } from "../worker/support/time.ts";
import { changingNothing } from "../worker/support/unchanged.ts";
import { aRoomWithSub, at, between, subsOf } from "../worker/support/waiting_room_subs.ts";
import { aClinicWithRoom, create, leave, read, retire, update } from "../worker/support/waiting_rooms.ts";

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

it("400: call metrics: bad request; body {error: <string>}", async () => {
  const clinic = await anOrganization();
  const both = await ask(clinic, "?date_start=2026-02-29&date_end=yesterday");
  expectRefusal(both, 400, /date_start.*date_end/);
  expectRefusal(await ask(clinic, "?user_id=1&user_id=2"), 400, "user_id: is given twice: give it once");
});

// 401: authentication.test.ts, 5.

describe("404", () => {
  it("waiting room get, update, retire; waiting room sub list, create, update, delete: the room does not exist or is not accessible; or the sub", async () => {
    const { clinic, room, substitute, listed, sub } = await aRoomWithSub();
    const { slug } = await clinic.addRoom({ name: "Lungs" });
    const { room: theirs } = await aClinicWithRoom();
    for (const other of [`${clinic.slug}-nowhere`, theirs.slug]) {
      const { path, create } = subsOf(clinic, other, substitute.user_id);
      for (const refused of [
        read(clinic, other),
        update(clinic, other, { is_active: true }),
        retire(clinic, other),
        clinic.client.get(path),
        create(),
      ])
        expectRefusal(await refused, 404);
    }
    for (const [other, id] of [
      [slug, sub.id],
      [theirs.slug, sub.id],
      [room.slug, sub.id + 1],
    ] as const) {
      const subs = subsOf(clinic, other, substitute.user_id);
      expectRefusal(await subs.update(id, { user_id: null }), 404);
      expectRefusal(await subs.remove(id), 404);
    }
    expect(await listed()).toEqual([sub]);
  });

  it("call metrics: body {error: <string>}", async () => {
    const clinic = await anOrganization();
    const stranger = await aClinicWithCalls();
    await stranger.hold();
    for (const user_id of [stranger.provider.user_id, 999_999_999])
      expectRefusal(await ask(clinic, `?${BOTH_DAYS}&user_id=${user_id}`), 404);
  });

  it("transcript, SOAP note, egress list, get, audit logs: organization user or call does not exist or is not accessible", async () => {
    const clinic = await anOrganization();
    const { call, egress } = await aCallWithResults(clinic);
    const colleague = await clinic.addProvider("Peter Provider");
    const theirs = await aCall(await anOrganization());
    const tails = ["/transcript", "/soap_note", "/egresses", `/egresses/${egress.id}`];
    await changingNothing(async () => {
      for (const path of inaccessiblePaths(call, theirs, colleague))
        for (const tail of [...tails, `/egresses/${egress.id}/audit_logs`])
          expectRefusal(await clinic.client.get(path + tail), 404);
    });
  });

  it("transcript, SOAP note: no transcript or SOAP note exists for the call (for example very short calls or technical issues)", async () => {
    const clinic = await anOrganization();
    const { path } = await aCall(clinic, { ended_at: STARTED_AT });
    expectRefusal(await clinic.client.get(`${path}/soap_note`), 404, "SOAP note not found");
    expectRefusal(await clinic.client.get(`${path}/transcript`), 404, "Transcript not found");
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
    await clinic.addParticipant(room.slug, { waiting_since: fromNow(-10) }, "rita");
    expectRefusal(await changingNothing(() => retire(clinic, room.slug)), 422);
    await leave(room.slug, "rita");
    expectGone(await retire(clinic, room.slug));
    expectRefusal(await read(clinic, room.slug), 404);
  });

  it("waiting room retire: the room is in use (an ongoing call)", async () => {
    const clinic = await anOrganization();
    const rita = aRecipient({ waiting_since: WAITING_SINCE, joined_at: STARTED_AT });
    const call = await aCall(clinic, { ended_at: undefined, participants: [rita] });
    expectRefusal(await retire(clinic, call.room.slug), 422, /in use/);
    await given(call.report({ ended_at: ENDED_AT }));
    expectGone(await retire(clinic, call.room.slug));
  });

  it("waiting room retire: or it is a personal room", async () => {
    const clinic = await anOrganization();
    const { waiting_room_slug } = await clinic.addProvider();
    expectRefusal(await changingNothing(() => retire(clinic, waiting_room_slug)), 422);
  });

  it("waiting room sub create, update: the times overlap an existing sub of the room", async () => {
    const { create, update, listed, sub } = await aRoomWithSub();
    // limits.test.ts has the times that a new sub may not have.
    const next = await given(create(between("12:00:00", "13:00:00")));
    const longer = await given(update(sub.id, between("10:30:00", "12:00:00")));
    expectRefusal(await update(sub.id, { datetime_end: at("12:00:00.001") }), 422, /overlap/);
    expectRefusal(await update(next.id, between("09:00:00", "14:00:00")), 422, /overlap/);
    expect(await listed()).toEqual([longer, next]);
  });

  it("invite create: the email already has a pending invite or an account in the organization", async () => {
    const clinic = await anOrganization();
    const [pending, { email }] = [await clinic.addInvite(), await clinic.addProvider()];
    await changingNothing(async () => {
      for (const written of [pending.email, ` \t${pending.email.toUpperCase()} `]) {
        const refused = await createInvite(clinic, { email: written, role_names: ["organization_admin"] });
        expectRefusal(refused, 422, `organization_invite.email: ${hasPendingInvite(pending)}`);
      }
      expectRefusal(
        await createInvite(clinic, { email: email.toUpperCase() }),
        422,
        "organization_invite.email: has an account in the organization: change that organization user instead",
      );
    });
  });
});
