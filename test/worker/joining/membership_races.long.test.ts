import { describe, expect, it } from "vitest";
import { type Answer, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, aRecipient, STARTED_AT } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { acceptToken, create, keepingInvite, tokenOf } from "../support/invites.ts";
import { add, change, remove, userOf, usersOf } from "../support/members.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithSignIn, exchange, redeem } from "../support/sign_in.ts";

const ROUNDS = [0, 1, 2];

/** Expects no trace of a current membership: no roles, room, waiting participants, subs or working API clients. */
async function expectNoTrace(clinic: Organization, member: { id: number; user_id: number }) {
  expect(await userOf(clinic, member)).toMatchObject({ roles: [], waiting_room_slug: null, assists: [] });
  const [room] = (await storedRows(clinic, "waiting_rooms")).filter(
    ({ user_id }) => user_id === member.user_id,
  );
  expect(room?.retired_at).toEqual(expect.any(Number));
  const left = async (table: string, isLeft: (row: Record<string, unknown>) => boolean) =>
    expect((await storedRows(clinic, table)).filter(isLeft)).toEqual([]);
  await left(
    "participants",
    (each) => each.waiting_room_id === room?.id && each.left_at === null && each.call_id === null,
  );
  await left("waiting_room_subs", ({ user_id }) => user_id === member.user_id);
  await left("api_clients", (each) => each.organization_user_id === member.id && each.revoked_at === null);
}

describe("A membership that ends amid other requests", () => {
  it("ends once if all of them end it", async () => {
    const clinic = await anOrganization();
    const peter = await clinic.addProvider();
    const answers = await atOnce(20, () => remove(clinic, peter));
    expect(statusesOf(answers)).toEqual({ 204: 1, 404: 19 });
    await expectNoTrace(clinic, peter);
  });

  it.each(ROUNDS)("leaves nothing of the member, whatever the others request (%i)", async (round) => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const [invite, peter] = [await clinic.addInvite(), await clinic.addProvider("Peter")];
    const { email } = invite;
    const accepting = await tokenOf(invite);
    const paula = await keepingInvite(invite, () => clinic.addProvider("Paula", { email }));
    const [room, personal] = [(await clinic.addRoom()).slug, paula.waiting_room_slug];
    const subs = `/waiting_rooms/${room}/waiting_room_subs`;
    const { id } = await clinic.addSub(room, {
      user_id: peter.user_id,
      datetime_start: "2127-01-31T09:00:00Z",
    });
    const joined = { waiting_room_slug: personal, ended_at: null, participants: [] };
    const call = await aCall(clinic, joined, paula);
    const people = Array.from({ length: 30 }, () => aRecipient({ joined_at: STARTED_AT }));
    for (const { key } of people) await clinic.addParticipant(personal, { waiting_since: STARTED_AT }, key);
    const signingIn = await provider.token({ email });
    const api_client = { name: "Integration", organization_user_id: paula.id };
    const participant = { display_name: "Rita", role: "recipient", waiting_since: new Date().toISOString() };
    const assisting = { roles: ["provider", "provider_assistant"], assists: [peter.id] };
    const sub = (n: number) => {
      const datetime_start = `2126-01-${String(n + 1).padStart(2, "0")}T09:00:00Z`;
      return { waiting_room_sub: { user_id: paula.user_id, datetime_start } };
    };
    const waiting = () => `/waiting_rooms/${personal}/participants/${unique("rita")}`;
    const requests: [allowed: number[], send: (n: number) => Promise<Answer>][] = [
      [[200, 422], () => change(clinic, paula, { display_name: "Dr. Paula", roles: ["provider"] })],
      [[200, 422], () => change(clinic, paula, assisting)],
      [[200, 404, 422], () => acceptToken(accepting)],
      [[201, 422], (n) => clinic.client.post(subs, sub(n))],
      [[200, 422], () => clinic.client.put(`${subs}/${id}`, sub(30))],
      [[200, 404], () => platform.put(waiting(), { participant })],
      [[200], (n) => call.report({ participants: [people[n]] })],
      [[201, 422], () => clinic.platform.post("/api_clients", { api_client })],
      [[200, 401], () => exchange(client, signingIn)],
      [[201, 422], () => add(clinic, { email, display_name: "Dr. Paula", roles: ["provider"] })],
    ];
    const position = round * 12;
    const kindOf = (n: number) => requests[n % requests.length];
    const answers = await atOnce(30, (n) => (n === position ? remove(clinic, paula) : kindOf(n)?.[1](n)));
    for (const [n, answer] of answers.entries())
      expect(n === position ? [204] : kindOf(n)?.[0]).toContain(answer?.status);
    await expectNoTrace(clinic, paula);
    const participants = await storedRows(clinic, "participants");
    const reported = answers.filter((_, n) => n !== position && n % requests.length === 6).length;
    expect(participants.filter(({ call_id }) => call_id === call.id)).toHaveLength(reported);
    const added = answers.filter((answer, n) => n % requests.length === 9 && answer?.status === 201);
    expect(added.length).toBeLessThanOrEqual(1);
    for (const each of added) expect(each?.body.id).not.toBe(paula.id);
    // A code that was made before the end is invalid, and one after it signs in the person who was added.
    for (const each of answers.filter((answer) => answer?.body?.code)) {
      const { status, body } = await redeem(each?.body.code);
      if (status !== 401) expect(body.organization_user.id).toBe(added[0]?.body.id);
    }
    // An invite that was accepted before the end keeps its row, but brings nobody back.
    expect([404, 422]).toContain((await acceptToken(accepting)).status);
    await expectNoTrace(clinic, paula);
  });
});

describe("PUT /organizations/{organization_id}/users/{id}, thirty times at once,", () => {
  it("leaves one room or none, as the last change of the provider role says", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const roles = [["provider"], ["provider_assistant"]];
    const answers = await atOnce(30, (n) => change(clinic, paula, { roles: roles[n % 2] }));
    expect(statusesOf(answers)).toEqual({ 200: 30 });
    for (const { body } of answers)
      expect(body.waiting_room_slug).toBe(body.roles[0] === "provider" ? paula.waiting_room_slug : null);
    const user = await userOf(clinic, paula);
    const { waiting_rooms, pagination } = await given(clinic.client.get("/waiting_rooms"));
    expect(waiting_rooms).toHaveLength(user.waiting_room_slug === null ? 0 : 1);
    expect(pagination.total_count).toBe(waiting_rooms.length);
  });

  it.each(ROUNDS)("names a new personal room after the member's name at its creation (%i)", async (round) => {
    const clinic = await anOrganization();
    const al = await clinic.addUser("Al", ["provider_assistant"]);
    const position = round * 14;
    const answers = await atOnce(30, (n) =>
      change(clinic, al, n === position ? { roles: ["provider"] } : { display_name: `Al ${n}` }),
    );
    expect(statusesOf(answers)).toEqual({ 200: 30 });
    const { display_name, waiting_room_slug } = answers[position]?.body ?? {};
    expect(waiting_room_slug).toBe(`${clinic.slug}--${display_name.toLowerCase().replace(" ", "-")}`);
  });
});

describe("Thirty requests at once", () => {
  it.each(ROUNDS)("that accept two invites of one former member: one succeeds, once (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    await given(remove(clinic, paula));
    const [one, other] = [
      await tokenOf(await clinic.addInvite({ returning_user_id: paula.id })),
      await tokenOf(await clinic.addInvite({ returning_user_id: paula.id, email: paula.email })),
    ];
    const answers = await atOnce(30, (n) => acceptToken(n % 2 === round % 2 ? one : other));
    expect(statusesOf(answers)).toEqual({ 200: 1, 422: 29 });
    const accepted = answers.find(({ status }) => status === 200)?.body;
    expect(accepted.id).toBe(paula.id);
    expect(await userOf(clinic, paula)).toEqual({ ...accepted, assists: [] });
  });

  it.each(ROUNDS)("that invite and add a former member's email: it gets one account (%i)", async (round) => {
    const clinic = await anOrganization();
    const { id, email } = await clinic.addProvider();
    await given(remove(clinic, { id }));
    const user = { email, display_name: "Dr. Ivy", roles: ["provider"] };
    const answers = await atOnce(30, (n) =>
      n % 2 === round % 2 ? create(clinic, { email }) : add(clinic, user),
    );
    for (const { status } of answers) expect([200, 201, 422]).toContain(status);
    const found = await given(clinic.client.get(`/organization_users?email=${email}`));
    expect(found.pagination.total_count).toBe(1);
    expect((await given(clinic.client.get("/invites"))).organization_invites).toEqual([]);
  });
});

it.each(ROUNDS)(
  "An invite that is accepted, deleted and replaced by a user, thirty times at once, leads to one of these (%i)",
  async (round) => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite({ display_name: "Ivy Invitee" });
    const token = await tokenOf(invite);
    const user = { email: invite.email, display_name: "Dr. Ivy", roles: ["provider_assistant"] };
    const requests = [
      () => acceptToken(token),
      () => add(clinic, user),
      () => clinic.client.delete(`/invites/${invite.id}`),
    ];
    const answers = await atOnce(30, (n) => requests[(n + round) % 3]?.());
    const { 404: _, 422: __, ...done } = statusesOf(answers.flatMap((answer) => answer ?? []));
    // After its deletion, the person can still be added.
    expect([{ 200: 1 }, { 201: 1 }, { 201: 1, 204: 1 }]).toContainEqual(done);
    const joined = answers.find((answer) => [200, 201].includes(answer?.status ?? 0))?.body;
    const members = (await usersOf(clinic)).filter(({ email }: { email: string }) => email === invite.email);
    expect(members).toEqual([{ ...joined, assists: [] }]);
    expect((await given(clinic.client.get("/invites"))).organization_invites).toEqual([]);
  },
);
