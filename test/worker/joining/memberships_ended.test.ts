import { describe, expect, it } from "vitest";
import { aCall, aRecipient, ENDED_AT, knownParticipant, STARTED_AT } from "../support/calls.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { accept } from "../support/invites.ts";
import { aClinicWithProvider, add, change, remove, userOf } from "../support/members.ts";
import { anInvite, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";
import { aClinicWithSignIn, exchange, expectExchanged, redeem, signIn } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";

const callsThrough = async (client: Pick<Organization["client"], "get">, { id }: { id: number }) =>
  (await given(client.get(`/organization_users/${id}/calls`))).calls;

describe("A former member", () => {
  it("cannot sign in, not even with an earlier code, and a newcomer with the email signs in alone", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const { email } = paula;
    const token = await provider.token({ email });
    const codes = [await expectExchanged(client, token), await expectExchanged(client, token)];
    const others = await expectExchanged(client, await provider.token({ email: clinic.admin.email }));
    await given(remove(clinic, paula));
    expectRefusal(await exchange(client, token), 401, "Invalid token");
    expectRefusal(await redeem(codes[0]), 401, "Invalid code");
    const user = { email, display_name: "Paula", roles: ["provider"] };
    await given(add(clinic, { ...user, returning_user_id: paula.id }));
    for (const code of codes) expectRefusal(await redeem(code), 401, "Invalid code");
    expect((await redeem(others)).status).toBe(200);
    await given(remove(clinic, paula));
    const invite = await clinic.addInvite({ email });
    expectRefusal(await exchange(client, token), 401, "Please accept your invite");
    const { id } = await given(accept(invite));
    expect(id).not.toBe(paula.id);
    for (const name of ["Former member", "Nobody"]) {
      expect((await signIn(client, token)).organization_user).toEqual({ id, roles: ["provider"] });
      await given(change(clinic, paula, { display_name: name, email: null }));
    }
  });

  it("gets no invite from a bulk invite that was requested before the end and processed after it", async () => {
    const clinic = await aClinicWithQueue();
    const paula = await clinic.addProvider();
    const other = anInvite();
    const { id, messages } = await clinic.bulkInvite([anInvite({ email: paula.email }), other]);
    travelTo(fromNow(1));
    await given(remove(clinic, paula));
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 1,
      failures: [
        { row: 0, email: paula.email, error: "The membership of this email ended after the request" },
      ],
    });
    expect(await clinic.pendingInvites()).toMatchObject([{ email: other.email }]);
  });
});

describe("The calls of a former member", () => {
  it("are visible to administrators only, and can still be reported, even new ones from the personal room", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const [assistants, colleagues] = [
      await clinic.addClient(al.id),
      await clinic.addClient((await clinic.addProvider("Peter")).id),
    ];
    const call = await aCall(clinic, {}, paula);
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    await given(assistants.get(`${call.path}/soap_note`));
    const rita = aRecipient({ key: unique("rita"), joined_at: STARTED_AT });
    await clinic.addParticipant(paula.waiting_room_slug, { waiting_since: STARTED_AT }, rita.key);
    expectGone(await remove(clinic, paula));
    const reported = await call.report({ organization_user_id: paula.id, failed: true });
    expect(reported).toMatchObject({ status: 200, body: { id: call.id } });
    expect((await clinic.client.get(`${call.path}/soap_note`)).status).toBe(200);
    expect(await userOf(clinic, al)).toMatchObject({ assists: [] });
    for (const client of [assistants, colleagues])
      expectRefusal(await client.get(`${call.path}/soap_note`), 404);
    const first = { waiting_room_slug: paula.waiting_room_slug, participants: [rita] };
    const late = await aCall(clinic, first, paula);
    expect((await knownParticipant(paula.waiting_room_slug, rita.key)).call_id).toBe(late.id);
    const egress = await late.addEgress({ user_id: paula.user_id });
    expect((await clinic.client.get(`${late.path}/egresses/${egress.id}`)).status).toBe(200);
    const { slug } = await clinic.addRoom();
    await clinic.addParticipant(slug, { role: "provider", user_id: paula.user_id });
  });

  it("continue under the old slug of the room, can be joined, and end with all their results", async () => {
    const { clinic, paula, room } = await aClinicWithProvider();
    const [rita, sue] = ["rita", "sue"].map((word) =>
      aRecipient({ key: unique(word), joined_at: STARTED_AT }),
    );
    const inRoom = { waiting_room_slug: paula.waiting_room_slug };
    const call = await aCall(clinic, { ...inRoom, ended_at: null, participants: [rita] }, paula);
    expectGone(await remove(clinic, paula));
    expectRefusal(await clinic.client.get(room), 404);
    expect(await callsThrough(clinic.client, paula)).toMatchObject([{ id: call.id, is_ended: false }]);
    await given(call.report({ ...inRoom, participants: [sue] }));
    const leftAt = async (each = rita) => {
      const { call_id, left_at } = await knownParticipant(paula.waiting_room_slug, each?.key ?? "");
      expect(call_id).toBe(call.id);
      return left_at;
    };
    expect([await leftAt(rita), await leftAt(sue)]).toEqual([null, null]);

    await given(call.report({ ended_at: ENDED_AT }));
    expect([await leftAt(rita), await leftAt(sue)]).toEqual([ENDED_AT, ENDED_AT]);
    const line = { participant_key: rita?.key, text: "Good morning.", start_time: 0, end_time: 1 };
    await given(call.reportTranscript({ summary: "A talk.", is_final: true, lines: [line] }));
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    const egress = await call.addEgress();
    for (const part of ["transcript", "soap_note", `egresses/${egress.id}`])
      expect((await clinic.client.get(`${call.path}/${part}`)).status).toBe(200);
  });
});

it("The email of a former member makes an invitee a new member, without the former one's room, calls and notes", async () => {
  const clinic = await aClinicWithQueue();
  const { paula, room } = await aClinicWithProvider(clinic);
  const call = await aCall(clinic, {}, paula);
  await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
  expectGone(await remove(clinic, paula));
  const kept = await userOf(clinic, paula);
  const { messages } = await clinic.bulkInvite([anInvite({ email: paula.email.toUpperCase() })]);
  await clinic.consume(messages);
  const newcomer = await given(accept((await clinic.pendingInvites())[0]));
  expect(newcomer).toMatchObject({ email: paula.email, roles: ["provider"] });
  expect(newcomer.id).toBeGreaterThan(paula.id);
  expect(newcomer.waiting_room_slug).not.toBe(paula.waiting_room_slug);
  const client = await clinic.addClient(newcomer.id);
  expect(await callsThrough(client, newcomer)).toEqual([]);
  for (const path of [`${call.path}/soap_note`, `/organization_users/${paula.id}/calls`, room])
    expectRefusal(await client.get(path), 404);
  expect(await userOf(clinic, paula)).toEqual(kept);
});
