import { describe, expect, it } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { expectMissingRole, expectRefusal } from "../support/expectations.ts";
import { change, changeThrough, remove, removeThrough, userOf, usersOf } from "../support/members.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

const ADMIN = "organization_admin";
const NO_SUCH_USER = "Organization user not found";
const NOBODY = { id: 999_999 };

async function aClinic() {
  const clinic = await anOrganization();
  const paula = await clinic.addProvider();
  const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
  return { clinic, ada: clinic.admin, client: clinic.client, paula, al };
}

async function aClinicWithTwoAdmins() {
  const { clinic, ada, client, ...others } = await aClinic();
  const bea = await clinic.addUser("Bea Boss", [ADMIN]);
  return { clinic, ada, client, bea, hers: await clinic.addClient(bea.id), ...others };
}

const shown = async (client: Pick<Api, "get">, { id }: { id: number }) =>
  given(client.get(`/organization_users/${id}`));

const adminsOf = async (clinic: Organization): Promise<{ id: number }[]> =>
  (await usersOf(clinic)).filter(({ roles }: { roles: string[] }) => roles.includes(ADMIN));

describe("PUT and DELETE /organization_users/{id} by an organization_admin", () => {
  it("change the name, roles and assists of a member, as the platform does", async () => {
    const { clinic, client, paula, al } = await aClinic();
    const roles = ["provider", "provider_assistant"];
    const answer = await changeThrough(client, al, { display_name: " Dr. Al ", roles, assists: [paula.id] });
    expect(answer.body).toEqual({
      id: al.id,
      user_id: al.user_id,
      email: al.email,
      display_name: "Dr. Al",
      roles: ["provider_assistant", "provider"],
      assists: [paula.id],
      waiting_room_slug: `${clinic.slug}--dr-al`,
    });
    expect(await shown(client, al)).toEqual(answer.body);
    expect(await userOf(clinic, al)).toMatchObject(answer.body);
    await given(client.get(`/waiting_rooms/${answer.body.waiting_room_slug}`));
  });

  it("end a membership, but keep the user and their calls in lists", async () => {
    const { clinic, client, bea, hers } = await aClinicWithTwoAdmins();
    const sent = await given(hers.post("/invites", { organization_invite: anInvite() }));
    const answer = await removeThrough(client, bea);
    expect(answer).toMatchObject({ status: 204, body: null });
    expect(await shown(client, bea)).toMatchObject({ email: bea.email, roles: [], assists: [] });
    await given(client.get(`/organization_users/${bea.id}/calls`));
    expectRefusal(await client.get(`/invites/${sent.id}`), 404, "Invite not found");
    const { api_clients } = await given(platform.get(`/organizations/${clinic.id}/api_clients`));
    expect(api_clients).toMatchObject([{ revoked_at: null }, { revoked_at: expect.any(String) }]);
    const { events } = await given(client.get("/events?type=organization_user.removed"));
    expect(events.map(({ data }: { data: object }) => data)).toEqual([{ organization_user_id: bea.id }]);
  });

  it("return 404 for somebody who is not a member, and a DELETE also for a former member", async () => {
    const { client, paula } = await aClinic();
    const stranger = await (await anOrganization()).addProvider();
    await given(removeThrough(client, paula));
    await changingNothing(async () => {
      expectRefusal(await removeThrough(client, paula), 404, NO_SUCH_USER);
      for (const nobody of [stranger, NOBODY]) {
        for (const body of [{}, { roles: [ADMIN] }, { display_name: "X" }])
          expectRefusal(await changeThrough(client, nobody, body), 404, NO_SUCH_USER);
        expectRefusal(await removeThrough(client, nobody), 404, NO_SUCH_USER);
      }
    });
  });
});

it("PUT and DELETE /organization_users/{id} return 403 to a client of any other role, even for its own user", async () => {
  const { clinic, ada, paula, al } = await aClinic();
  const both = await clinic.addUser("Bo Both", ["provider_assistant", "provider"], { assists: [paula.id] });
  const clients: Api[] = [];
  for (const { id } of [paula, al, both]) clients.push(await clinic.addClient(id));
  for (const client of clients) await given(client.get("/roles"));
  await changingNothing(async () => {
    for (const client of clients)
      for (const member of [ada, paula, al, both, NOBODY]) {
        for (const body of [{}, { display_name: "X" }, { roles: [ADMIN] }, { roles: ["provider"] }])
          expectMissingRole(await changeThrough(client, member, body));
        expectMissingRole(await removeThrough(client, member));
      }
  });
});

describe("The user of the calling client", () => {
  it("cannot be removed or lose organization_admin, the last one or not, except by another administrator's client", async () => {
    const { clinic, client, ada, hers } = await aClinicWithTwoAdmins();
    const CANNOT_BE_REMOVED =
      "Your client acts as this organization user: only a client of another organization_admin can end the membership, so that the organization keeps one";
    const CANNOT_BE_DEMOTED =
      "organization_user.roles: must include organization_admin, because your client acts as this organization user: only a client of another organization_admin can take the role away, so that the organization keeps one";
    const lonely = await anOrganization();
    for (const [own, admin] of [
      [lonely.client, lonely.admin],
      [client, ada],
      [await clinic.addClient(ada.id), ada],
    ] as const)
      await changingNothing(async () => {
        expectRefusal(await removeThrough(own, admin), 422, CANNOT_BE_REMOVED);
        for (const roles of [["provider"], ["provider_assistant", "provider"]])
          expectRefusal(await changeThrough(own, admin, { roles }), 422, CANNOT_BE_DEMOTED);
      });
    await given(changeThrough(hers, ada, { roles: ["provider"] }));
    await given(removeThrough(hers, ada));
  });

  it("can get another name, and additional roles", async () => {
    const { client, ada } = await aClinic();
    const body = { display_name: "Dr. Ada", roles: ["provider", ADMIN] };
    expect(await given(changeThrough(client, ada, body))).toMatchObject(body);
    expect(await given(changeThrough(client, ada, { roles: [ADMIN] }))).toMatchObject({ roles: [ADMIN] });
  });

  it("can be demoted and removed by the platform, even as the last administrator", async () => {
    const { clinic, ada } = await aClinic();
    await given(change(clinic, ada, { roles: ["provider"] }));
    await given(remove(clinic, ada));
    expect(await adminsOf(clinic)).toEqual([]);
  });
});

describe("A client whose user has changed since an isolate looked it up", () => {
  it("can neither regain organization_admin, nor give it to others, nor remove anybody, once its user lost it", async () => {
    const { clinic, client, ada, bea, hers, paula } = await aClinicWithTwoAdmins();
    const again = await clinic.addClient(bea.id);
    for (const each of [hers, again]) await given(each.get("/roles"));
    await given(changeThrough(client, bea, { roles: ["provider"] }));
    const { roles } = await given(hers.get("/roles"));
    expect(roles).toContain(ADMIN);
    await changingNothing(async () => {
      for (const each of [hers, again])
        for (const member of [bea, paula, ada]) {
          expectMissingRole(await changeThrough(each, member, { roles: [ADMIN] }));
          expectMissingRole(await removeThrough(each, member));
        }
    });
  });

  it("can change members as soon as its user becomes an organization_admin", async () => {
    const { clinic, client, paula, al } = await aClinic();
    const hers = await clinic.addClient(paula.id);
    await given(hers.get("/roles"));
    await given(changeThrough(client, paula, { roles: [ADMIN] }));
    await given(changeThrough(hers, al, { display_name: "Al A." }));
  });

  it.each([0, 9, 19])("cannot outrun a demotion with requests at once (%i)", async (position) => {
    const { clinic, client, bea, hers, al } = await aClinicWithTwoAdmins();
    await given(hers.get("/roles"));
    const answers = await atOnce(20, (n) => {
      if (n === position) return changeThrough(client, bea, { roles: ["provider"] });
      return n % 2
        ? changeThrough(hers, bea, { roles: [ADMIN, "provider"] })
        : changeThrough(hers, al, { display_name: `Al ${n}` });
    });
    expect(answers[position]?.status).toBe(200);
    for (const { status } of answers) expect([200, 403]).toContain(status);
    expect(await userOf(clinic, bea)).toMatchObject({ roles: ["provider"] });
  });
});

describe("Two last organization_admins", () => {
  const demotion = { roles: ["provider"] };

  it.each<[string, Record<number, number>, (client: Api, of: { id: number }) => Promise<Answer>]>([
    ["remove each other", { 204: 1, 401: 1 }, removeThrough],
    [
      "take the role from each other",
      { 200: 1, 403: 1 },
      (client, of) => changeThrough(client, of, demotion),
    ],
  ])("who %s at once leave one of them", async (_, statuses, act) => {
    for (const round of [0, 1, 2, 3]) {
      const { clinic, client, ada, bea, hers } = await aClinicWithTwoAdmins();
      for (const each of [client, hers]) await given(each.get("/roles"));
      const asks = [() => act(client, bea), () => act(hers, ada)];
      const answers = await Promise.all((round % 2 ? asks.reverse() : asks).map((ask) => ask()));
      expect(statusesOf(answers)).toEqual(statuses);
      expect(await adminsOf(clinic)).toHaveLength(1);
    }
  });
});
