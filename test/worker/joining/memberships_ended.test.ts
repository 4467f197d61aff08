import { expect, it } from "vitest";
import { aCall, aRecipient, ENDED_AT, knownParticipant, STARTED_AT } from "../support/calls.ts";
import { expectGone, expectRefusal } from "../support/expectations.ts";
import { accept } from "../support/invites.ts";
import { aClinicWithProvider, add, change, remove } from "../support/members.ts";
import { anInvite, given } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";
import { aClinicWithSignIn, exchange, expectExchanged, redeem, signIn } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";

it("A former member cannot sign in, not even with an earlier code, and a newcomer with the email signs in alone, without the former one's calls", async () => {
  const { clinic, provider, client } = await aClinicWithSignIn();
  const paula = await clinic.addProvider();
  const call = await aCall(clinic, {}, paula);
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
  const { id, waiting_room_slug } = await given(accept(invite));
  expect(id).not.toBe(paula.id);
  expect(waiting_room_slug).not.toBe(paula.waiting_room_slug);
  for (const name of ["Former member", "Nobody"]) {
    expect((await signIn(client, token)).organization_user).toEqual({ id, roles: ["provider"] });
    await given(change(clinic, paula, { display_name: name, email: null }));
  }
  expectRefusal(await (await clinic.addClient(id)).get(call.path), 404);
});

it("A former member gets no invite from a bulk invite that was requested before the end and processed after it", async () => {
  const clinic = await aClinicWithQueue();
  const paula = await clinic.addProvider();
  const other = anInvite();
  const { id, messages } = await clinic.bulkInvite([anInvite({ email: paula.email }), other]);
  travelTo(fromNow(1));
  await given(remove(clinic, paula));
  await clinic.consume(messages);
  const error = "The membership of this email ended after the request";
  expect(await clinic.progressOf({ id })).toMatchObject({
    status: "completed",
    created_count: 1,
    failures: [{ row: 0, email: paula.email, error }],
  });
  expect(await clinic.pendingInvites()).toMatchObject([{ email: other.email }]);
});

it("A former member's call continues under the old slug of the room, can be joined, and ends with all its results, for administrators only", async () => {
  const { clinic, paula, room } = await aClinicWithProvider();
  const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
  const assistant = await clinic.addClient(al.id);
  const [rita, sue] = [aRecipient({ joined_at: STARTED_AT }), aRecipient({ joined_at: STARTED_AT })];
  const inRoom = { waiting_room_slug: paula.waiting_room_slug };
  const call = await aCall(clinic, { ...inRoom, ended_at: null, participants: [rita] }, paula);
  await given(assistant.get(call.path));
  expectGone(await remove(clinic, paula));
  expectRefusal(await clinic.client.get(room), 404);
  expectRefusal(await assistant.get(call.path), 404);
  await given(call.report({ ...inRoom, organization_user_id: paula.id, participants: [sue] }));
  const expectLeft = async (left_at: string | null) => {
    for (const { key } of [rita, sue])
      expect(await knownParticipant(paula.waiting_room_slug, key)).toMatchObject({
        call_id: call.id,
        left_at,
      });
  };
  await expectLeft(null);

  await given(call.report({ ended_at: ENDED_AT }));
  await expectLeft(ENDED_AT);
  await given(call.reportTranscript({ is_final: true, lines: [] }));
  await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
  const egress = await call.addEgress({ user_id: paula.user_id });
  for (const part of ["transcript", "soap_note", `egresses/${egress.id}`]) {
    expect((await clinic.client.get(`${call.path}/${part}`)).status).toBe(200);
    expectRefusal(await assistant.get(`${call.path}/${part}`), 404);
  }
  await aCall(clinic, { ...inRoom, participants: [] }, paula);
});
