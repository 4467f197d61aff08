import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall, aRecipient, ENDED_AT, knownParticipant, STARTED_AT } from "../support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, keepingInvite, tokenOf } from "../support/invites.ts";
import { aClinicWithProvider, add, change, remove, shownMember, userOf } from "../support/members.ts";
import { anInvite, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithQueue } from "../support/queue.ts";
import { aClinicWithSignIn, exchange, expectExchanged, redeem, signIn } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

/** The user as the platform shows them after the membership has ended. */
const former = (user: object) => ({ ...user, roles: [], waiting_room_slug: null, assists: [] });

const asExternal = async ({ client }: Pick<Organization, "client">, { id }: { id: number }) =>
  (await given(client.get("/organization_users"))).organization_users.find(
    (user: { id: number }) => user.id === id,
  );

const callsThrough = async (client: Pick<Organization["client"], "get">, { id }: { id: number }) =>
  (await given(client.get(`/organization_users/${id}/calls`))).calls;

const DAY = "date_start=2026-01-31&date_end=2026-01-31";

describe("DELETE /organizations/{organization_id}/users/{id}", () => {
  it("keeps the user in the lists of both APIs, without roles, and returns 404 the second time", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    expectGone(await remove(clinic, paula));
    expect(await userOf(clinic, paula)).toEqual(former(paula));
    expect(await asExternal(clinic, paula)).toEqual(shownMember(former(paula)));
    expectRefusal(await changingNothing(() => remove(clinic, paula)), 404, "Organization user not found");
  });
});

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
    await given(add(clinic, { email: paula.email, display_name: "Paula", roles: ["provider"] }));
    for (const code of codes) expectRefusal(await redeem(code), 401, "Invalid code");
    expect((await redeem(others)).status).toBe(200);
  });

  it("is refused with a code or client that an earlier version of the service left valid, while both run", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const code = await expectExchanged(client, await provider.token({ email: paula.email }));
    const paulas = await clinic.addClient(paula.id);
    // The earlier version does not know about members without an account.
    await env.DB.prepare("update organization_users set roles = '[]' where id = ?").bind(paula.id).run();
    expectRefusal(await redeem(code), 401, "Invalid code");
    expectRefusal(await paulas.get("/roles"), 401, "Invalid client credentials");
  });

  it("has no pending invite, not even an expired one, and the link no longer works", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const expired = await clinic.addInvite();
    travelTo(fromNow(8 * 24 * 60));
    const [invite, other] = [await clinic.addInvite(), await clinic.addInvite()];
    const token = await tokenOf(invite);
    const ivy = await keepingInvite(invite, () => clinic.addProvider("Ivy Invitee", { email: invite.email }));
    const eve = await keepingInvite(expired, () =>
      clinic.addProvider("Eve Expired", { email: expired.email }),
    );
    for (const each of [ivy, eve]) await given(remove(clinic, each));
    for (const { id } of [invite, expired]) expectRefusal(await client.get(`/invites/${id}`), 404);
    expectRefusal(await acceptToken(token), 404);
    expectRefusal(await exchange(client, await provider.token({ email: ivy.email })), 401, "Invalid token");
    const { organization_invites } = await given(client.get("/invites"));
    expect(organization_invites).toEqual([other]);
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

  it("assists nobody, even after a return, and cannot be added to anyone's assists", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    await given(remove(clinic, al));
    expect((await userOf(clinic, al)).assists).toEqual([]);
    await given(add(clinic, { email: al.email, display_name: "Al", roles: ["provider_assistant"] }));
    expect((await userOf(clinic, al)).assists).toEqual([]);
    await given(remove(clinic, paula));
    expectRefusal(await change(clinic, al, { assists: [paula.id] }), 422, /user\.assists/);
  });
});

describe("The calls of a former member", () => {
  it("stay in the metrics, and visible to administrators and the member's assistants only", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const call = await aCall(clinic, {}, paula);
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    const metrics = `/call_metrics?${DAY}&user_id=${paula.user_id}`;
    const before = await given(clinic.client.get(metrics));
    expectGone(await remove(clinic, paula));

    expect(before.total_calls).toEqual({ "2026-01-31": 1 });
    expect(await given(clinic.client.get(metrics))).toEqual(before);
    expect((await userOf(clinic, al)).assists).toEqual([paula.id]);
    const assistants = await clinic.addClient(al.id);
    for (const client of [clinic.client, assistants]) {
      expect(await callsThrough(client, paula)).toMatchObject([{ id: call.id }]);
      expect((await client.get(`${call.path}/soap_note`)).status).toBe(200);
    }
    expect((await given(assistants.get("/organization_users"))).organization_users).toMatchObject([
      { id: paula.id, roles: [] },
      { id: al.id },
    ]);
    const colleagues = await clinic.addClient((await clinic.addProvider("Peter")).id);
    expectRefusal(await colleagues.get(`${call.path}/soap_note`), 404);
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

  it("can be reported for the first time after the end, because reports can be late", async () => {
    const { clinic, paula } = await aClinicWithProvider();
    expectGone(await remove(clinic, paula));
    const call = await aCall(clinic, { waiting_room_slug: paula.waiting_room_slug }, paula);
    expect(await callsThrough(clinic.client, paula)).toMatchObject([{ id: call.id }]);
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

describe("A returning member", () => {
  async function aFormerProvider() {
    const { clinic, paula, room } = await aClinicWithProvider();
    const al = await clinic.addUser("Al", ["provider_assistant"], { assists: [paula.id] });
    const client = await clinic.addClient(paula.id);
    const { updated_at: _, ...before } = await given(
      clinic.client.put(room, { waiting_room: { theme: "blue" } }),
    );
    const call = await aCall(clinic, {}, paula);
    expectGone(await remove(clinic, paula));
    return { clinic, paula, al, client, room, before, call };
  }

  it("who is created with the same email is the same organization user, with the new name and roles", async () => {
    const { clinic, paula, al, room, before, call } = await aFormerProvider();
    const user = { email: paula.email.toUpperCase(), display_name: "Dr. Paula", roles: ["provider"] };
    const created = await add(clinic, user);
    expect(created).toMatchObject({ status: 201, body: { ...paula, display_name: "Dr. Paula" } });
    expect(await given(clinic.client.get(room))).toEqual({
      ...before,
      user: { display_name: "Dr. Paula" },
      updated_at: aTimestamp,
    });
    expect(await callsThrough(clinic.client, paula)).toMatchObject([{ id: call.id }]);
    expect((await userOf(clinic, al)).assists).toEqual([paula.id]);
    expectRefusal(await add(clinic, user), 422, /user\.email/);
  });

  it("who is created with other roles has only these, and only the given assists", async () => {
    const { clinic, paula, room } = await aFormerProvider();
    const peter = await clinic.addProvider("Peter");
    const user = { email: paula.email, display_name: "Paula", roles: ["provider_assistant"] };
    expect((await given(add(clinic, { ...user, assists: [peter.id] }))).roles).toEqual(user.roles);
    expect((await userOf(clinic, paula)).assists).toEqual([peter.id]);
    expectRefusal(await clinic.client.get(room), 404);
  });

  it("who accepts an invite is the same organization user, with the name and roles of the invite", async () => {
    const { clinic, paula, room, before } = await aFormerProvider();
    const invite = await clinic.addInvite({ email: paula.email, display_name: "Dr. P." });
    const accepted = await accept(invite);
    expect(accepted).toMatchObject({ status: 200, body: { ...paula, display_name: "Dr. P." } });
    expect(await given(clinic.client.get(room))).toMatchObject({ id: before.id, slug: before.slug });
  });

  it("can be invited by a bulk invite, because the email does not count as an account", async () => {
    const clinic = await aClinicWithQueue();
    const paula = await clinic.addProvider();
    await given(remove(clinic, paula));
    const { id, messages } = await clinic.bulkInvite([anInvite({ email: paula.email })]);
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toMatchObject({ created_count: 1, failed_count: 0 });
    const [invite] = await clinic.pendingInvites();
    expect(await accept(invite)).toMatchObject({ status: 200, body: { id: paula.id } });
  });

  it("is first asked to accept the invite, and can then sign in again", async () => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    await given(remove(clinic, paula));
    const token = await provider.token({ email: paula.email });
    const invite = await clinic.addInvite({ email: paula.email });
    expectRefusal(await exchange(client, token), 401, "Please accept your invite");
    await given(accept(invite));
    expect((await signIn(client, token)).organization_user).toEqual({ id: paula.id, roles: ["provider"] });
  });

  it("still has the old API clients revoked, and can get new ones", async () => {
    const { clinic, paula, client } = await aFormerProvider();
    await given(add(clinic, { email: paula.email, display_name: "Paula", roles: ["provider"] }));
    expectRefusal(await client.get("/roles"), 401);
    const row = env.DB.prepare("select revoked_at from api_clients where id = ?").bind(client.id);
    expect(await row.first("revoked_at")).toEqual(expect.any(Number));
    expect((await (await clinic.addClient(paula.id)).get("/roles")).status).toBe(200);
  });

  it("can leave and return repeatedly, with one room", async () => {
    const { clinic, paula } = await aFormerProvider();
    for (let time = 0; time < 3; time++) {
      const user = { email: paula.email, display_name: `Paula ${time}`, roles: ["provider"] };
      expect((await given(add(clinic, user))).waiting_room_slug).toBe(paula.waiting_room_slug);
      expectGone(await remove(clinic, paula));
    }
    const { waiting_rooms, pagination } = await given(clinic.client.get("/waiting_rooms"));
    expect(waiting_rooms).toHaveLength(pagination.total_count);
  });
});
