import { describe, expect, it } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { expectMissingRole, expectRefusal } from "../support/expectations.ts";
import { changeThrough, removeThrough, userOf, usersOf } from "../support/members.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";
import { everyRowBesideTheLog } from "../support/unchanged.ts";

const ADMIN = "organization_admin";

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
});

describe("A client whose user has changed since an isolate looked it up", () => {
  it("can neither regain organization_admin, nor give it to others, nor remove anybody, once its user lost it", async () => {
    const { clinic, client, ada, bea, hers, paula } = await aClinicWithTwoAdmins();
    const again = await clinic.addClient(bea.id);
    for (const each of [hers, again]) await given(each.get("/roles"));
    await given(changeThrough(client, bea, { roles: ["provider"] }));
    const { roles } = await given(hers.get("/roles"));
    expect(roles).toContain(ADMIN);
    // No time may pass here: after a minute, the isolate looks the client up again.
    const before = await everyRowBesideTheLog();
    for (const each of [hers, again])
      for (const member of [bea, paula, ada]) {
        expectMissingRole(await changeThrough(each, member, { roles: [ADMIN] }));
        expectMissingRole(await removeThrough(each, member));
      }
    expect(await everyRowBesideTheLog()).toEqual(before);
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
