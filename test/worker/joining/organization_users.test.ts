import { describe, expect, it } from "vitest";
import type { Api } from "../support/api.ts";
import { platform } from "../support/api.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, tokenOf } from "../support/invites.ts";
import { remove, shownMember } from "../support/members.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { anEmail } from "../support/sign_in.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const create = (organization_id: number, user: object) =>
  platform.post(`/organizations/${organization_id}/users`, { user });

const aUser = (more: object = {}) => ({
  email: anEmail(),
  display_name: "Paula Provider",
  roles: ["provider"],
  ...more,
});

const list = async (client: Pick<Api, "get">, query = "") =>
  (await client.get(`/organization_users${query}`)).body;

/** The lists that creating a user changes. */
async function usersAndRooms({ client }: Organization) {
  return [await list(client), await given(client.get("/waiting_rooms"))];
}

describe("POST /organizations/{organization_id}/users", () => {
  it("creates a provider with a personal waiting room", async () => {
    const clinic = await anOrganization();
    const email = anEmail();
    const created = await create(clinic.id, aUser({ email }));
    expect(created.body).toEqual({
      id: expect.any(Number),
      user_id: created.body.id,
      organization_id: clinic.id,
      email,
      display_name: "Paula Provider",
      roles: ["provider"],
      waiting_room_slug: `${clinic.slug}--paula-provider`,
    });
    expect(await given(clinic.client.get(`/waiting_rooms/${created.body.waiting_room_slug}`))).toMatchObject({
      user_id: created.body.user_id,
      name: "Paula Provider",
    });
  });

  it.each([
    [["provider_assistant", "provider"], true],
    [["provider_assistant", "provider", "organization_admin"], true],
    [["provider_assistant"], false],
    [["organization_admin"], false],
    [["provider_assistant", "organization_admin"], false],
  ])("creates a personal room for a provider, and for nobody else: %j, %s", async (roles, hasRoom) => {
    const clinic = await anOrganization();
    const created = await given(create(clinic.id, aUser({ display_name: "Una User", roles })));
    const waiting_room_slug = hasRoom ? `${clinic.slug}--una-user` : null;
    expect(created).toMatchObject({ roles, waiting_room_slug });
    const { waiting_rooms } = await given(clinic.client.get("/waiting_rooms"));
    const owners = waiting_rooms.map(({ user_id }: { user_id: number }) => user_id);
    expect(owners).toEqual(hasRoom ? [created.user_id] : []);
  });

  it("creates a user and a room in each organization of a person", async () => {
    const clinic = await anOrganization();
    const practice = await anOrganization("Hillside Practice");
    const email = anEmail();
    const inClinic = await given(create(clinic.id, aUser({ email, display_name: "Dr. Paula" })));
    const inPractice = await given(
      create(
        practice.id,
        aUser({ email: email.toUpperCase(), display_name: "Paula P.", roles: ["provider"] }),
      ),
    );
    expect(inPractice.email).toBe(inClinic.email);
    expect(inPractice.id).not.toBe(inClinic.id);
    expect([inClinic.user_id, inPractice.user_id]).toEqual([inClinic.id, inPractice.id]);
    expect(inClinic.waiting_room_slug).toBe(`${clinic.slug}--dr-paula`);
    expect(inPractice.waiting_room_slug).toBe(`${practice.slug}--paula-p`);
    expect((await list(clinic.client)).organization_users).toContainEqual(shownMember(inClinic));
    expect((await list(practice.client)).organization_users).toContainEqual(shownMember(inPractice));
  });

  it("deletes the unused invites of the email, and no others", async () => {
    const [clinic, practice] = [await anOrganization(), await anOrganization("Hillside Practice")];
    const email = anEmail();
    const used = await clinic.addInvite({ email });
    const { id } = await given(accept(used));
    await given(remove(clinic, { id }));
    const expired = await clinic.addInvite({ email });
    const [other, elsewhere] = [await clinic.addInvite(), await practice.addInvite({ email })];
    travelTo(fromNow(8 * 24 * 60));
    const pending = await clinic.addInvite();
    const token = await tokenOf(pending);
    await given(create(clinic.id, aUser({ email: ` ${email.toUpperCase()}` })));
    await given(create(clinic.id, aUser({ email: pending.email })));
    const read = ({ client }: Organization, { id }: { id: number }) => client.get(`/invites/${id}`);
    for (const removed of [expired, pending]) expectRefusal(await read(clinic, removed), 404);
    expectRefusal(await acceptToken(token), 404, "Invite not found");
    expect((await given(read(clinic, used))).used_at).toEqual(aTimestamp);
    expect(await given(read(clinic, other))).toEqual(other);
    expect(await given(read(practice, elsewhere))).toEqual(elsewhere);
  });

  it("deletes no invite if it is refused", async () => {
    const clinic = await anOrganization();
    const invite = await clinic.addInvite();
    const user = aUser({ email: invite.email, assists: [clinic.admin.id] });
    expectRefusal(await changingNothing(() => create(clinic.id, user)), 422, /user\.assists/);
  });

  it("refuses a person who is already a user of the organization, however the email is written", async () => {
    const clinic = await anOrganization();
    const { email } = await clinic.addProvider("Paula Provider");
    const before = await usersAndRooms(clinic);
    for (const again of [email, ` ${email.toUpperCase()}`]) {
      const user = aUser({ email: again, display_name: "Usurper", roles: ["organization_admin"] });
      expectRefusal(await create(clinic.id, user), 422, /user\.email/);
    }
    expect(await usersAndRooms(clinic)).toEqual(before);
  });
});

describe("The assists in POST /organizations/{organization_id}/users", () => {
  const anAssistant = (assists: unknown) =>
    aUser({ display_name: "Al Assistant", roles: ["provider_assistant"], assists });

  it("are each stored once, even if the request names them twice", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider("Paula Provider");
    const peter = await clinic.addProvider("Peter Provider");
    const created = await create(clinic.id, anAssistant([peter.id, paula.id, peter.id]));
    expect(created.status).toBe(201);
    const client = await clinic.addClient(created.body.id);
    const assistant = { ...created.body, assists: [paula.id, peter.id] };
    expect((await list(client)).organization_users).toEqual([paula, peter, assistant].map(shownMember));
    expect((await given(create(clinic.id, anAssistant([])))).roles).toEqual(["provider_assistant"]);
  });
});

describe("GET /organization_users", () => {
  /** A clinic with two providers, the first of whom has an assistant. */
  async function aClinicWithStaff() {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider("Paula Provider");
    const assists = [paula.id];
    const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists });
    const peter = await clinic.addProvider("Peter Provider");
    return { clinic, paula, al: { ...al, assists }, peter };
  }

  it("lists and counts only the users within reach of the caller's highest role, by id", async () => {
    const { clinic, paula, al, peter } = await aClinicWithStaff();
    const assists = [peter.id];
    const bea = await clinic.addUser("Bea Both", ["provider_assistant", "provider"], { assists });
    const both = { ...bea, assists };
    const head = await clinic.addUser("Hal Head", ["provider", "organization_admin"]);
    const everybody = [clinic.admin, paula, al, peter, both, head];
    for (const [user, reached] of [
      [clinic.admin, everybody],
      [head, everybody],
      [paula, [paula]],
      [al, [paula, al]],
      [both, [peter, both]],
    ]) {
      const client = await clinic.addClient(user.id);
      const total_count = reached.length;
      expect(await list(client)).toEqual({
        organization_users: reached.map(shownMember),
        pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count },
      });
      expect(await list(client, `?per_page=1&page=${total_count}`)).toEqual({
        organization_users: [shownMember(reached.at(-1))],
        pagination: { current_page: total_count, per_page: 1, total_pages: total_count, total_count },
      });
    }
  });
});

describe("GET /organization_users/{id}", () => {
  const get = (client: Pick<Api, "get">, { id }: { id: number }) => client.get(`/organization_users/${id}`);

  it("returns a user as in the list, even after the membership has ended", async () => {
    const clinic = await anOrganization();
    const paula = await clinic.addProvider("Paula Provider");
    await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
    const fred = await clinic.addProvider("Fred Former");
    await given(remove(clinic, fred));
    const { organization_users } = await list(clinic.client);
    expect(organization_users).toHaveLength(4);
    for (const user of organization_users)
      expect(await get(clinic.client, user)).toMatchObject({ status: 200, body: user });
    expect((await given(get(clinic.client, fred))).roles).toEqual([]);
  });
});
