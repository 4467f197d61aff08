import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, ENDED_AT, knownParticipant, STARTED_AT } from "../support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { accept, create } from "../support/invites.ts";
import { aClinicWithProvider, add, change, remove, userOf } from "../support/members.ts";
import { anInvite, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";
import { aClinicWithSignIn, exchange, expectExchanged, redeem, signIn } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const callsThrough = async (client: Pick<Organization["client"], "get">, { id }: { id: number }) =>
  (await given(client.get(`/organization_users/${id}/calls`))).calls;

const DAY = "date_start=2026-01-31&date_end=2026-01-31";

describe("A former member", () => {
  it("cannot sign in, not even with an earlier code, which stays invalid after a return", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const token = await provider.token({ email: paula.email });
    const codes = [await expectExchanged(client, token), await expectExchanged(client, token)];
    const others = await expectExchanged(client, await provider.token({ email: clinic.admin.email }));
    await given(remove(clinic, paula));
    expectRefusal(await exchange(client, token), 401, "Invalid token");
    expectRefusal(await redeem(codes[0]), 401, "Invalid code");
    const user = { email: paula.email, display_name: "Paula", roles: ["provider"] };
    await given(add(clinic, { ...user, returning_user_id: paula.id }));
    for (const code of codes) expectRefusal(await redeem(code), 401, "Invalid code");
    expect((await redeem(others)).status).toBe(200);
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

  it("cannot get an API client", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    await given(remove(clinic, paula));
    const asked = await changingNothing(() =>
      platform.post(`/organizations/${clinic.id}/api_clients`, {
        api_client: { name: "Integration", organization_user_id: paula.id },
      }),
    );
    expectRefusal(
      asked,
      422,
      /organization_user_id: must be the id of an organization user whose membership has not ended/,
    );
  });

  it("has all API clients revoked; those revoked earlier keep their revoked_at", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const early = await clinic.addClient(paula.id);
    const late = await clinic.addClient(paula.id);
    await given(clinic.platform.delete(`/api_clients/${early.id}`));
    const clients = async () => {
      const listed = await given(platform.get(`/organizations/${clinic.id}/api_clients`));
      return Object.fromEntries(
        listed.api_clients.map(({ id, revoked_at }: Record<string, unknown>) => [id, revoked_at]),
      );
    };
    const before = await clients();
    const now = fromNow(2);
    travelTo(now);
    await given(remove(clinic, paula));
    expect(await clients()).toEqual({ ...before, [late.id]: now });
    expect(before[early.id]).toEqual(aTimestamp);
    expectRefusal(await clinic.platform.delete(`/api_clients/${late.id}`), 404);
    expectRefusal(await late.get("/roles"), 401, "Invalid client credentials");
    expect((await clinic.client.get("/roles")).status).toBe(200);
  });
});

describe("The calls of a former member", () => {
  it("stay in the metrics, and visible to administrators only", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const call = await aCall(clinic, {}, paula);
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    const metrics = `/call_metrics?${DAY}&user_id=${paula.user_id}`;
    const before = await given(clinic.client.get(metrics));
    expectGone(await remove(clinic, paula));

    expect(before.total_calls).toEqual({ "2026-01-31": 1 });
    expect(await given(clinic.client.get(metrics))).toEqual(before);
    expect(await callsThrough(clinic.client, paula)).toMatchObject([{ id: call.id }]);
    expect((await clinic.client.get(`${call.path}/soap_note`)).status).toBe(200);
    const assistants = await clinic.addClient(al.id);
    expect((await given(assistants.get("/organization_users"))).organization_users).toMatchObject([
      { id: al.id, assists: [] },
    ]);
    const colleagues = await clinic.addClient((await clinic.addProvider("Peter")).id);
    for (const client of [assistants, colleagues])
      expectRefusal(await client.get(`${call.path}/soap_note`), 404);
  });

  it("can still be reported, even new ones, because reports can be late", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const call = await aCall(clinic, {}, paula);
    expectGone(await remove(clinic, paula));
    const reported = await call.report({ organization_user_id: paula.id, failed: true });
    expect(reported).toMatchObject({ status: 200, body: { id: call.id } });
    const late = await aCall(clinic, {}, paula);
    const egress = await late.addEgress({ user_id: paula.user_id });
    expect((await clinic.client.get(`${late.path}/egresses/${egress.id}`)).status).toBe(200);
    const { slug } = await clinic.addRoom();
    await clinic.addParticipant(slug, { role: "provider", user_id: paula.user_id });
  });
});

describe("A call in the personal room of a former member", () => {
  it("keeps the participants who waited there if it is first reported after the end", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const rita = aRecipient({ key: unique("rita"), joined_at: STARTED_AT });
    await clinic.addParticipant(paula.waiting_room_slug, { waiting_since: STARTED_AT }, rita.key);
    expectGone(await remove(clinic, paula));
    const first = { waiting_room_slug: paula.waiting_room_slug, participants: [rita] };
    const call = await aCall(clinic, first, paula);
    expect((await knownParticipant(paula.waiting_room_slug, rita.key)).call_id).toBe(call.id);
    expect(await callsThrough(clinic.client, paula)).toHaveLength(1);
  });

  it("continues under the old slug of the room, can be joined, and ends with all its results", async () => {
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

async function aFormerProvider(clinic?: Organization) {
  const { paula, room, ...world } = await aClinicWithProvider(clinic);
  const al = await world.clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
  const client = await world.clinic.addClient(paula.id);
  const { updated_at: _, ...before } = await given(
    world.clinic.client.put(room, { waiting_room: { theme: "blue" } }),
  );
  const call = await aCall(world.clinic, {}, paula);
  await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
  expectGone(await remove(world.clinic, paula));
  return { ...world, paula, al, client, room, before, call, returning_user_id: paula.id };
}

describe("The email of a former member", () => {
  type Clinic = Awaited<ReturnType<typeof aClinicWithQueue>>;

  it.each<[string, (clinic: Clinic, email: string) => Promise<unknown>]>([
    ["the platform adds", (clinic, email) => clinic.addProvider("Paula Newcomer", { email })],
    ["an invite admits", async (clinic, email) => given(accept(await clinic.addInvite({ email })))],
    [
      "a bulk invite admits",
      async (clinic, email) => {
        const { messages } = await clinic.bulkInvite([anInvite({ email })]);
        await clinic.consume(messages);
        return given(accept((await clinic.pendingInvites())[0]));
      },
    ],
  ])(
    "makes the person whom %s a new member, without the former one's room, calls and notes",
    async (_, join) => {
      const clinic = await aClinicWithQueue();
      const { paula, room, call } = await aFormerProvider(clinic);
      const kept = await userOf(clinic, paula);
      const newcomer = (await join(clinic, paula.email.toUpperCase())) as typeof paula;
      expect(newcomer).toMatchObject({ email: paula.email, roles: ["provider"] });
      expect(newcomer.id).toBeGreaterThan(paula.id);
      expect(newcomer.waiting_room_slug).not.toBe(paula.waiting_room_slug);
      const client = await clinic.addClient(newcomer.id);
      expect(await callsThrough(client, newcomer)).toEqual([]);
      for (const path of [`${call.path}/soap_note`, `/organization_users/${paula.id}/calls`, room])
        expectRefusal(await client.get(path), 404);
      expect(await userOf(clinic, paula)).toEqual(kept);
      const found = await given(clinic.client.get(`/organization_users?email=${paula.email}`));
      expect(found).toMatchObject({
        organization_users: [{ id: newcomer.id }],
        pagination: { total_count: 1 },
      });
      expectRefusal(await add(clinic, { ...newcomer, roles: ["provider"] }), 422, /user\.email/);
    },
  );

  it("signs nobody in until somebody has it again, and then signs in the new member", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    await given(remove(clinic, paula));
    const token = await provider.token({ email: paula.email });
    expectRefusal(await exchange(client, token), 401, "Invalid token");
    const invite = await clinic.addInvite({ email: paula.email });
    expectRefusal(await exchange(client, token), 401, "Please accept your invite");
    const { id } = await given(accept(invite));
    expect(id).not.toBe(paula.id);
    expect((await signIn(client, token)).organization_user).toEqual({ id, roles: ["provider"] });
    await given(change(clinic, paula, { display_name: "Former member", email: null }));
    expect((await signIn(client, token)).organization_user).toEqual({ id, roles: ["provider"] });
  });
});

describe("A returning member", () => {
  it("is not brought back by the invite of an administrator who is one no longer", async () => {
    const { clinic, returning_user_id } = await aFormerProvider();
    const bea = await clinic.addUser("Bea", ["organization_admin"]);
    const invite = await given(create({ client: await clinic.addClient(bea.id) }, { returning_user_id }));
    await given(change(clinic, bea, { roles: ["provider"] }));
    expectRefusal(await clinic.client.get(`/invites/${invite.id}`), 404);
  });
});
