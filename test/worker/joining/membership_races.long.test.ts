import { describe, expect, it } from "vitest";
import { type Answer, platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, aRecipient, STARTED_AT } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { acceptToken, create, keepingInvite, tokenOf } from "../support/invites.ts";
import { add, change, remove, userOf } from "../support/members.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithSignIn, exchange, redeem } from "../support/sign_in.ts";

const ROUNDS = [0, 1, 2];

/**
 * Sends twenty requests at once, one of which ends the membership: the first one in round 0, a later one in each further
 * round. Returns the answers to the others, none of which may be a 5xx.
 */
async function whileRemoved(
  clinic: Organization,
  member: { id: number },
  round: number,
  send: (n: number) => Promise<Answer>,
): Promise<Answer[]> {
  const position = round * 8;
  const answers = await atOnce(20, (n) => (n === position ? remove(clinic, member) : send(n)));
  const [removal] = answers.splice(position, 1);
  expect(removal?.status).toBe(204);
  expect(Math.max(...answers.map(({ status }) => status))).toBeLessThan(500);
  return answers;
}

/** Expects no trace of a current membership: no roles, room, waiting participants, subs or working API clients. */
async function expectNoTrace(clinic: Organization, member: { id: number; user_id: number }) {
  expect(await userOf(clinic, member)).toMatchObject({ roles: [], waiting_room_slug: null, assists: [] });
  const [room] = (await storedRows(clinic, "waiting_rooms")).filter(
    ({ user_id }) => user_id === member.user_id,
  );
  expect(room?.retired_at).toEqual(expect.any(Number));
  const participants = await storedRows(clinic, "participants");
  const present = participants.filter(
    (each) => each.waiting_room_id === room?.id && each.left_at === null && each.call_id === null,
  );
  expect(present).toEqual([]);
  const subs = await storedRows(clinic, "waiting_room_subs");
  expect(subs.filter(({ user_id }) => user_id === member.user_id)).toEqual([]);
  const clients = await storedRows(clinic, "api_clients");
  const ofMember = clients.filter(({ organization_user_id }) => organization_user_id === member.id);
  expect(ofMember.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
}

describe("A membership that ends amid other requests", () => {
  it("ends once if all of them end it", async () => {
    const clinic = await anOrganization();
    const peter = await clinic.addProvider();
    const answers = await atOnce(20, () => remove(clinic, peter));
    expect(statusesOf(answers)).toEqual({ 204: 1, 404: 19 });
    await expectNoTrace(clinic, peter);
  });

  it.each(ROUNDS)("stays ended if the member is changed (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const peter = await clinic.addProvider("Peter");
    const changes = [
      { roles: ["provider"] },
      { roles: ["provider_assistant"], assists: [peter.id] },
      { display_name: "Dr. Paula", roles: ["provider_assistant", "provider"], assists: [peter.id] },
    ];
    const answers = await whileRemoved(clinic, paula, round, (n) =>
      change(clinic, paula, changes[n % 3] ?? {}),
    );
    for (const { status } of answers) expect([200, 422]).toContain(status);
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("stays ended if an invite of the member is accepted (%i)", async (round) => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const token = await tokenOf(invite);
    const ivy = await keepingInvite(invite, () => clinic.addProvider("Ivy", { email: invite.email }));
    const answers = await whileRemoved(clinic, ivy, round, () => acceptToken(token));
    for (const { status } of answers) expect([200, 404, 422]).toContain(status);
    await expectNoTrace(clinic, ivy);
    // An invite that was accepted before the end keeps its row, but brings nobody back.
    expect([404, 422]).toContain((await acceptToken(token)).status);
    await expectNoTrace(clinic, ivy);
  });

  it.each(ROUNDS)("leaves no sub that names the member if subs are filled (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const { slug } = await clinic.addRoom();
    const path = `/waiting_rooms/${slug}/waiting_room_subs`;
    const sam = await clinic.addProvider("Sam");
    const { id } = await clinic.addSub(slug, {
      user_id: sam.user_id,
      datetime_start: "2127-01-31T09:00:00Z",
    });
    const answers = await whileRemoved(clinic, paula, round, (n) =>
      n % 2
        ? clinic.client.post(path, {
            waiting_room_sub: {
              user_id: paula.user_id,
              datetime_start: `2126-01-${String(n + 1).padStart(2, "0")}T09:00:00Z`,
            },
          })
        : clinic.client.put(`${path}/${id}`, { waiting_room_sub: { user_id: paula.user_id } }),
    );
    for (const { status } of answers) expect([200, 201, 422]).toContain(status);
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("leaves nobody in the personal room if people enter it (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const path = `/waiting_rooms/${paula.waiting_room_slug}/participants`;
    const participant = { display_name: "Rita", role: "recipient", waiting_since: new Date().toISOString() };
    const answers = await whileRemoved(clinic, paula, round, () =>
      platform.put(`${path}/${unique("rita")}`, { participant }),
    );
    for (const { status } of answers) expect([200, 404]).toContain(status);
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("loses nobody who joins a call from the personal room (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const slug = paula.waiting_room_slug;
    const call = await aCall(clinic, { waiting_room_slug: slug, ended_at: null, participants: [] }, paula);
    const people = Array.from({ length: 20 }, () => aRecipient({ joined_at: STARTED_AT }));
    for (const { key } of people) await clinic.addParticipant(slug, { waiting_since: STARTED_AT }, key);
    const answers = await whileRemoved(clinic, paula, round, (n) =>
      call.report({ participants: [people[n]] }),
    );
    expect(Object.keys(statusesOf(answers))).toEqual(["200"]);
    const participants = await storedRows(clinic, "participants");
    expect(participants.filter(({ call_id }) => call_id === call.id)).toHaveLength(19);
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("leaves no working API client if some are created (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const answers = await whileRemoved(clinic, paula, round, () =>
      platform.post(`/organizations/${clinic.id}/api_clients`, {
        api_client: { name: "Integration", organization_user_id: paula.id },
      }),
    );
    for (const { status } of answers) expect([201, 422]).toContain(status);
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("leaves no valid code if the member signs in (%i)", async (round) => {
    const { clinic, provider, client } = await aClinicWithSignIn();
    const paula = await clinic.addProvider();
    const token = await provider.token({ email: paula.email });
    const answers = await whileRemoved(clinic, paula, round, () => exchange(client, token));
    for (const { status } of answers) expect([200, 401]).toContain(status);
    for (const { status, body } of answers)
      if (status === 200) expectRefusal(await redeem(body.code), 401, "Invalid code");
    await expectNoTrace(clinic, paula);
  });

  it.each(ROUNDS)("starts anew only after it has ended if the person is added (%i)", async (round) => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const user = { email: paula.email, display_name: "Dr. Paula", roles: ["provider"] };
    const answers = await whileRemoved(clinic, paula, round, () => add(clinic, user));
    const added = answers.filter(({ status }) => status === 201);
    expect(added.length).toBeLessThanOrEqual(1);
    for (const { body } of added) expect(body.id).not.toBe(paula.id);
    await expectNoTrace(clinic, paula);
  });
});

describe("PUT /organizations/{organization_id}/users/{id}, thirty times at once,", () => {
  it("leaves one room or none, as the last change of the provider role says", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider();
    const roles = [["provider"], ["provider_assistant"]];
    const answers = await atOnce(30, (n) => change(clinic, paula, { roles: roles[n % 2] }));
    expect(Object.keys(statusesOf(answers))).toEqual(["200"]);
    for (const { body } of answers)
      expect(body.waiting_room_slug).toBe(body.roles[0] === "provider" ? paula.waiting_room_slug : null);
    const user = await userOf(clinic, paula);
    const { waiting_rooms, pagination } = await given(clinic.client.get("/waiting_rooms"));
    expect(waiting_rooms).toHaveLength(user.waiting_room_slug === null ? 0 : 1);
    expect(pagination.total_count).toBe(waiting_rooms.length);
  });

  it.each(ROUNDS)(
    "names a new personal room after the member's name at the time of its creation (%i)",
    async (round) => {
      const clinic = await anOrganization();
      const al = await clinic.addUser("Al", ["provider_assistant"]);
      const position = round * 14;
      const answers = await atOnce(30, (n) =>
        change(clinic, al, n === position ? { roles: ["provider"] } : { display_name: `Al ${n}` }),
      );
      expect(Object.keys(statusesOf(answers))).toEqual(["200"]);
      const { display_name, waiting_room_slug } = answers[position]?.body ?? {};
      expect(waiting_room_slug).toBe(`${clinic.slug}--${display_name.toLowerCase().replace(" ", "-")}`);
    },
  );

  it("leaves the assists of one of the changes", async () => {
    const clinic = await anOrganization();
    const providers = [await clinic.addProvider("Peter"), await clinic.addProvider("Petra")];
    const al = await clinic.addUser("Al", ["provider_assistant"]);
    const answers = await atOnce(30, (n) => change(clinic, al, { assists: [providers[n % 2]?.id] }));
    for (const [n, { body }] of answers.entries()) expect(body.assists).toEqual([providers[n % 2]?.id]);
    expect((await userOf(clinic, al)).assists).toHaveLength(1);
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

  it.each(ROUNDS)(
    "that invite and add the email of a former member: it gets one account (%i)",
    async (round) => {
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
    },
  );

  it.each(ROUNDS)(
    "that create the user and accept the invite of one person: one succeeds, once (%i)",
    async (round) => {
      const clinic = await anOrganization();
      const invite = await clinic.addInvite({ display_name: "Ivy Invitee" });
      const token = await tokenOf(invite);
      const user = { email: invite.email, display_name: "Dr. Ivy", roles: ["provider_assistant"] };
      const isAccepted = (n: number) => n % 2 === round % 2;
      const answers = await atOnce(30, (n) => (isAccepted(n) ? acceptToken(token) : add(clinic, user)));
      const counts = statusesOf(answers);
      const outcome = [200, 201, 404, 422].map((status) => counts[status] ?? 0);
      expect([
        [1, 0, 0, 29],
        [0, 1, 15, 14],
      ]).toContainEqual(outcome);
      const joined = answers.find(({ status }) => status < 300)?.body;
      expect(await userOf(clinic, joined)).toEqual({ ...joined, assists: [] });
      expect((await given(clinic.client.get("/invites"))).organization_invites).toEqual([]);
    },
  );

  it.each(ROUNDS)(
    "that rename a member and accept an invite: the room has the member's name (%i)",
    async (round) => {
      const clinic = await anOrganization();
      const invite = await clinic.addInvite({ display_name: "Ivy Invitee", role_names: ["provider"] });
      const token = await tokenOf(invite);
      const ivy = await keepingInvite(invite, () =>
        clinic.addUser("Ivy", ["provider_assistant"], { email: invite.email }),
      );
      const position = round * 14;
      const answers = await atOnce(30, (n) =>
        n === position ? acceptToken(token) : change(clinic, ivy, { display_name: `Ivy ${n}` }),
      );
      expect(Object.keys(statusesOf(answers))).toEqual(["200"]);
      const { display_name, waiting_room_slug } = answers[position]?.body ?? {};
      expect(waiting_room_slug).toBe(`${clinic.slug}--${display_name.toLowerCase().replace(" ", "-")}`);
    },
  );
});

const members = async ({ client }: Organization) =>
  (await given(client.get("/organization_users"))).organization_users;

it("POST /invites/accept, thirty times at once, never accepts an invite that is also deleted", async () => {
  const clinic = await anOrganization();
  for (let round = 0; round < 6; round++) {
    const invite = await clinic.addInvite({ email: `${unique("invitee")}@example.com` });
    const token = await tokenOf(invite);
    const before = (await members(clinic)).length;
    const answers = await atOnce(30, (n) =>
      n % 2 === round % 2 ? acceptToken(token) : clinic.client.delete(`/invites/${invite.id}`),
    );
    const outcome = [200, 204, 404, 422].map((status) => statusesOf(answers)[status] ?? 0);
    expect([
      [1, 0, 0, 29],
      [0, 1, 29, 0],
    ]).toContainEqual(outcome);
    expect((await members(clinic)).length - before).toBe(outcome[0]);
  }
});
