import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Answer, Api } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { expectRefusal } from "../support/expectations.ts";
import { add, change, changeThrough, remove, removeThrough, userOf, usersOf } from "../support/members.ts";
import { anInvite, given, unique } from "../support/organization.ts";
import { aClinicWithQueue, aMessage, ofBulkInvite } from "../support/queue.ts";

type Client = Pick<Api, "put" | "delete">;

const ADMIN = "organization_admin";

const anEndpoint = (webhook_endpoint: object = {}) => ({
  webhook_endpoint: { url: `https://${unique("hooks")}.example.com/visits`, ...webhook_endpoint },
});

async function aClinicWithTwoAdmins() {
  const clinic = await aClinicWithQueue();
  const bea = await clinic.addUser("Bea Boss", [ADMIN]);
  const hers = await clinic.addClient(bea.id);
  return { clinic, bea, hers: { ...hers, ...hers.through(clinic.fetcher) } };
}

it("The end of a membership withdraws the member's bulk invites, even if the member comes back", async () => {
  const { clinic, bea, hers } = await aClinicWithTwoAdmins();
  const sent = async (count: number) => {
    const organization_invites = Array.from({ length: count }, () => anInvite());
    return (await given(hers.post("/invites/bulk_create", { organization_invites }))).bulk_invite;
  };
  const done = await sent(2);
  await clinic.consume(clinic.queue.take());
  for (const { created_by_user_id } of await clinic.pendingInvites())
    expect(created_by_user_id).toBe(bea.user_id);
  const pending = await sent(3);
  const mine = await clinic.bulkInvite([anInvite()]);
  await given(remove(clinic, bea));
  const progress = await clinic.progressOf(pending);
  const error = "The membership of the person who sent this invite has ended";
  expect(progress).toMatchObject({ status: "completed", created_count: 0, failed_count: 3 });
  expect(progress.failures).toMatchObject([{ error }, { error }, { error }]);
  expect(await clinic.pendingInvites()).toEqual([]);
  const { events } = await given(clinic.client.get("/events?type=bulk_invite.completed"));
  expect(events).toMatchObject([done, pending].map(({ id }) => ({ data: { bulk_invite_id: id } })));
  const { email, display_name, roles } = bea;
  await given(add(clinic, { email, display_name, roles, returning_user_id: bea.id }));
  await clinic.consume([aMessage(ofBulkInvite(pending)), ...mine.messages]);
  expect(await clinic.progressOf(pending)).toEqual(progress);
  expect(await clinic.progressOf(mine)).toMatchObject({ created_count: 1 });
  expect(await clinic.pendingInvites()).toHaveLength(1);
});

it("A member who only loses organization_admin has endpoints turned off, and loses invites of former members, and invites and bulk rows above the new level", async () => {
  const { clinic, bea, hers } = await aClinicWithTwoAdmins();
  const [admins, providers] = [[ADMIN, "provider"], ["provider"]];
  const endpoint = await given(hers.post("/webhook_endpoints", anEndpoint()));
  const former = await clinic.addProvider();
  await given(remove(clinic, former));
  const invite = async (more: object) =>
    given(hers.post("/invites", { organization_invite: anInvite(more) }));
  await invite({ role_names: admins });
  await invite({ role_names: providers, returning_user_id: former.id });
  const below = await invite({ role_names: providers });
  const organization_invites = [anInvite({ role_names: admins }), anInvite({ role_names: providers })];
  const { bulk_invite } = await given(hers.post("/invites/bulk_create", { organization_invites }));
  await given(change(clinic, bea, { roles: providers }));
  expect(await given(clinic.client.get(`/webhook_endpoints/${endpoint.id}`))).toMatchObject({
    is_active: false,
    disabled_reason: "creator_removed",
  });
  expect(await clinic.pendingInvites()).toEqual([below]);
  expect(await clinic.progressOf(bulk_invite)).toMatchObject({ status: "pending", failed_count: 1 });
  await clinic.consume([aMessage(ofBulkInvite(bulk_invite))]);
  expect(await clinic.progressOf(bulk_invite)).toMatchObject({
    status: "completed",
    created_count: 1,
    failures: [{ row: 0, error: "The person who sent this invite may no longer give these roles" }],
  });
});

describe("A client whose user has changed since an isolate looked it up", () => {
  it.each<[string, (world: Awaited<ReturnType<typeof aClinicWithTwoAdmins>>) => Promise<unknown>]>([
    [
      "its member was removed",
      // The database is changed directly, so that this isolate does not notice.
      ({ bea }) =>
        env.DB.prepare("update organization_users set roles = '[]' where id = ?").bind(bea.id).run(),
    ],
    ["it was revoked", ({ clinic, hers }) => given(clinic.platform.delete(`/api_clients/${hers.id}`))],
    [
      "its member was removed, and has come back with the same roles",
      async ({ clinic, bea: { id, email, display_name, roles } }) => {
        await given(remove(clinic, { id }));
        await given(add(clinic, { email, display_name, roles, returning_user_id: id }));
      },
    ],
  ])("can create and change nothing after %s", async (_, end) => {
    const world = await aClinicWithTwoAdmins();
    const { clinic, hers } = world;
    const { secret, ...endpoint } = await given(
      clinic.client.post("/webhook_endpoints", anEndpoint({ is_active: false })),
    );
    const invited = await clinic.addInvite();
    await given(hers.get("/roles"));
    await end(world);
    for (const answer of [
      await hers.delete(`/invites/${invited.id}`),
      await hers.delete(`/webhook_endpoints/${endpoint.id}`),
      await hers.post("/invites", { organization_invite: anInvite() }),
      await hers.post("/invites/bulk_create", { organization_invites: [anInvite()] }),
      await hers.post("/webhook_endpoints", anEndpoint()),
      await hers.put(`/webhook_endpoints/${endpoint.id}`, { webhook_endpoint: { is_active: true } }),
      await hers.post(`/webhook_endpoints/${endpoint.id}/rotate_secret`, undefined),
      await changeThrough(hers, clinic.admin, { display_name: "Mine" }),
      await removeThrough(hers, clinic.admin),
    ])
      expectRefusal(answer, 401, "Invalid client credentials");
    expect((await given(clinic.client.get("/invites"))).organization_invites).toMatchObject([
      { id: invited.id },
    ]);
    expect((await given(clinic.client.get("/webhook_endpoints"))).webhook_endpoints).toEqual([endpoint]);
    expect(await userOf(clinic, clinic.admin)).toMatchObject(clinic.admin);
  });

  it("cannot invite anybody above its member's current level", async () => {
    const { bea, clinic, hers } = await aClinicWithTwoAdmins();
    await given(hers.get("/roles"));
    await given(change(clinic, bea, { roles: ["provider"] }));
    const invite = (role: string) =>
      hers.post("/invites", { organization_invite: anInvite({ role_names: [role] }) });
    const above = /role_names: organization_admin is above your permission level/;
    expectRefusal(await invite(ADMIN), 422, above);
    const organization_invites = [anInvite({ role_names: [ADMIN] })];
    expectRefusal(await hers.post("/invites/bulk_create", { organization_invites }), 422, above);
    await given(invite("provider"));
  });

  it.each([0, 8, 16])(
    "leaves nothing behind, whatever it requests while its member is being removed: %i",
    async (at) => {
      const { clinic, bea, hers } = await aClinicWithTwoAdmins();
      await given(hers.get("/roles"));
      const asks = [
        () => hers.post("/invites", { organization_invite: anInvite() }),
        () => hers.post("/invites/bulk_create", { organization_invites: [anInvite(), anInvite()] }),
        () => hers.post("/webhook_endpoints", anEndpoint()),
      ];
      const answers = await atOnce(20, (n) => (n === at ? remove(clinic, bea) : asks[n % asks.length]?.()));
      for (const answer of answers) expect([201, 204, 401, 422]).toContain(answer?.status);
      for (const left of [
        "invites where used_at is null",
        "bulk_invite_rows where status = 'pending'",
        "webhook_endpoints where is_active",
      ]) {
        const count = env.DB.prepare(`select count(*) as n from ${left} and organization_id = ?`);
        expect([left, await count.bind(clinic.id).first("n")]).toEqual([left, 0]);
      }
    },
  );

  it("can change members as soon as its user becomes an organization_admin", async () => {
    const { clinic, bea } = await aClinicWithTwoAdmins();
    const paula = await clinic.addProvider();
    const client = await clinic.addClient(paula.id);
    await given(client.get("/roles"));
    await given(changeThrough(clinic.client, paula, { roles: [ADMIN] }));
    await given(changeThrough(client, bea, { display_name: "Bea B." }));
  });

  it.each([0, 9, 19])("cannot outrun a demotion with requests at once (%i)", async (position) => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const al = await clinic.addUser("Al", ["provider_assistant"]);
    await given(hers.get("/roles"));
    const answers = await atOnce(20, (n) => {
      if (n === position) return changeThrough(clinic.client, bea, { roles: ["provider"] });
      return n % 2
        ? changeThrough(hers, bea, { roles: [ADMIN, "provider"] })
        : changeThrough(hers, al, { display_name: `Al ${n}` });
    });
    expect(answers[position]?.status).toBe(200);
    for (const { status } of answers) expect([200, 403]).toContain(status);
    expect(await userOf(clinic, bea)).toMatchObject({ roles: ["provider"] });
  });
});

it.each<[string, Record<number, number>, (client: Client, of: { id: number }) => Promise<Answer>]>([
  ["remove each other", { 204: 1, 401: 1 }, removeThrough],
  [
    "take the role from each other",
    { 200: 1, 403: 1 },
    (client, of) => changeThrough(client, of, { roles: ["provider"] }),
  ],
])("The last two organization_admins who %s at once leave one of them", async (_, statuses, act) => {
  for (const round of [0, 1]) {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    for (const each of [clinic.client, hers]) await given(each.get("/roles"));
    const asks = [() => act(clinic.client, bea), () => act(hers, clinic.admin)];
    const answers = await Promise.all((round ? asks.reverse() : asks).map((ask) => ask()));
    expect(statusesOf(answers)).toEqual(statuses);
    const admins = (await usersOf(clinic)).filter(({ roles }: { roles: string[] }) => roles.includes(ADMIN));
    expect(admins).toHaveLength(1);
  }
});
