import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Api } from "../support/api.ts";
import { atOnce } from "../support/at_once.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { accept, acceptToken, tokenOf } from "../support/invites.ts";
import { add, change, changeThrough, remove, removeThrough, userOf } from "../support/members.ts";
import { anInvite, given, unique } from "../support/organization.ts";
import { aClinicWithQueue, aMessage, ofBulkInvite } from "../support/queue.ts";

const REMOVED = "The membership of the person who sent this invite has ended";
const BELOW = "The person who sent this invite may no longer give these roles";

const anEndpoint = (webhook_endpoint: object = {}) => ({
  webhook_endpoint: { url: `https://${unique("hooks")}.example.com/visits`, ...webhook_endpoint },
});

async function aClinicWithTwoAdmins() {
  const clinic = await aClinicWithQueue();
  const bea = await clinic.addUser("Bea Boss", ["organization_admin"]);
  const hers = await clinic.addClient(bea.id);
  return { clinic, bea, hers: { ...hers, ...hers.through(clinic.fetcher) } };
}

const invite = async (client: Pick<Api, "post">, more: object = {}) =>
  given(client.post("/invites", { organization_invite: anInvite(more) }));

async function endpointOf(client: Pick<Api, "post">, more: object = {}) {
  const { secret, ...endpoint } = await given(client.post("/webhook_endpoints", anEndpoint(more)));
  return endpoint;
}

const readEndpoint = ({ client }: { client: Pick<Api, "get"> }, { id }: { id: number }) =>
  given(client.get(`/webhook_endpoints/${id}`));

const TURNED_OFF = { is_active: false, disabled_reason: "creator_removed", updated_at: aTimestamp };

describe("The created_by_user_id of an invite", () => {
  it("is the client's user in every response, even after they have left", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const sent = await invite(hers);
    expect(sent.created_by_user_id).toBe(bea.user_id);
    expect(await given(clinic.client.get(`/invites/${sent.id}`))).toEqual(sent);
    expect((await given(clinic.client.get("/invites"))).organization_invites).toEqual([sent]);
    expect(await given(clinic.platform.get(`/invites/${sent.id}`))).toMatchObject(sent);
    await given(accept(sent));
    await given(remove(clinic, bea));
    const used = await given(clinic.client.get(`/invites/${sent.id}`));
    expect(used).toMatchObject({ created_by_user_id: bea.user_id, used_at: aTimestamp });
  });

  it("is the sender of the request for a bulk invite", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    await given(hers.post("/invites/bulk_create", { organization_invites: [anInvite(), anInvite()] }));
    await clinic.consume(clinic.queue.take());
    const sent = await clinic.pendingInvites();
    expect(sent.map(({ created_by_user_id }) => created_by_user_id)).toEqual([bea.user_id, bea.user_id]);
  });
});

describe("The end of a membership", () => {
  it("deletes the member's pending invites, active and expired, so that nobody can accept them", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const [active, expired] = [await invite(hers), await invite(hers)];
    await env.DB.prepare("update invites set expires_at = 1 where id = ?").bind(expired.id).run();
    const token = await tokenOf(active);
    const mine = await invite(clinic.client);
    await given(remove(clinic, bea));
    expectRefusal(await acceptToken(token), 404, "Invite not found");
    for (const { id } of [active, expired])
      expectRefusal(await clinic.client.get(`/invites/${id}`), 404, "Invite not found");
    expect(await clinic.pendingInvites()).toEqual([mine]);
    // The email is free again.
    await invite(clinic.client, { email: active.email });
  });

  it("fails the pending rows of the member's bulk invites", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const rows = [anInvite(), anInvite(), anInvite()];
    const { bulk_invite } = await given(hers.post("/invites/bulk_create", { organization_invites: rows }));
    const mine = await clinic.bulkInvite([anInvite()]);
    await given(remove(clinic, bea));
    const progress = await clinic.progressOf(bulk_invite);
    expect(progress).toMatchObject({ status: "completed", created_count: 0, failed_count: 3 });
    expect(new Set(progress.failures.map(({ error }: { error: string }) => error))).toEqual(
      new Set([REMOVED]),
    );
    expect(await clinic.pendingInvites()).toEqual([]);
    const { events } = await given(clinic.client.get("/events?type=bulk_invite.completed"));
    expect(events.map(({ data }: { data: object }) => data)).toEqual([{ bulk_invite_id: bulk_invite.id }]);
    await clinic.consume(mine.messages);
    expect(await clinic.progressOf(mine)).toMatchObject({ created_count: 1 });
    expect(await clinic.progressOf(bulk_invite)).toEqual(progress);
    expect(await clinic.pendingInvites()).toHaveLength(1);
  });

  it("fails the pending rows even if the member comes back before they are processed", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const { bulk_invite } = await given(
      hers.post("/invites/bulk_create", { organization_invites: [anInvite()] }),
    );
    await given(remove(clinic, bea));
    const user = { email: bea.email, display_name: "Bea", roles: ["organization_admin"] };
    await given(add(clinic, { ...user, returning_user_id: bea.id }));
    await clinic.consume([aMessage(ofBulkInvite(bulk_invite))]);
    expect((await clinic.progressOf(bulk_invite)).failures).toMatchObject([{ row: 0, error: REMOVED }]);
  });

  it("turns off the member's webhook endpoints, until another administrator turns them on", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const endpoint = await endpointOf(hers);
    const asleep = await endpointOf(hers, { is_active: false });
    const mine = await endpointOf(clinic.client);
    expect(endpoint).not.toHaveProperty("created_by_user_id");
    await given(remove(clinic, bea));
    expect(await readEndpoint(clinic, endpoint)).toEqual({ ...endpoint, ...TURNED_OFF });
    expect(await readEndpoint(clinic, asleep)).toEqual(asleep);
    expect(await readEndpoint(clinic, mine)).toEqual(mine);
    const path = `/webhook_endpoints/${endpoint.id}`;
    const active = await given(clinic.client.put(path, { webhook_endpoint: { is_active: true } }));
    expect(active).toMatchObject({ is_active: true, disabled_reason: null });
  });
});

describe("The user who answers for a webhook endpoint", () => {
  const turnOn = { webhook_endpoint: { is_active: true } };

  it.each([
    ["turned it on", turnOn],
    ["set its URL", anEndpoint()],
  ])("is the last one who %s", async (_, change) => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const endpoint = await endpointOf(clinic.client, { is_active: change !== turnOn });
    const path = `/webhook_endpoints/${endpoint.id}`;
    await given(hers.put(path, change));
    await given(remove(clinic, bea));
    expect(await readEndpoint(clinic, endpoint)).toMatchObject(TURNED_OFF);
    await given(clinic.client.put(path, turnOn));
    const cora = await clinic.addUser("Cora Chief", ["organization_admin"]);
    await given(remove(clinic, clinic.admin));
    expect(await readEndpoint({ client: await clinic.addClient(cora.id) }, endpoint)).toMatchObject(
      TURNED_OFF,
    );
  });

  it("stays the same if another administrator changes neither of these", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const endpoint = await endpointOf(clinic.client);
    const { url, is_active } = endpoint;
    const webhook_endpoint = { url, is_active, event_types: ["call.ended"] };
    await given(hers.put(`/webhook_endpoints/${endpoint.id}`, { webhook_endpoint }));
    await given(remove(clinic, bea));
    expect(await readEndpoint(clinic, endpoint)).toMatchObject({ is_active: true, disabled_reason: null });
  });
});

describe("A member who only loses organization_admin", () => {
  it("has endpoints turned off, and loses invites and bulk rows above the new level", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const endpoint = await endpointOf(hers);
    const [admins, providers] = [["organization_admin", "provider"], ["provider"]];
    const above = await invite(hers, { role_names: admins });
    const below = await invite(hers, { role_names: providers });
    const organization_invites = [anInvite({ role_names: admins }), anInvite({ role_names: providers })];
    const { bulk_invite } = await given(hers.post("/invites/bulk_create", { organization_invites }));
    await given(change(clinic, bea, { roles: providers }));
    expect(await readEndpoint(clinic, endpoint)).toEqual({ ...endpoint, ...TURNED_OFF });
    expectRefusal(await clinic.client.get(`/invites/${above.id}`), 404, "Invite not found");
    expect(await given(clinic.client.get(`/invites/${below.id}`))).toEqual(below);
    expect(await clinic.progressOf(bulk_invite)).toMatchObject({ status: "pending", failed_count: 1 });
    await clinic.consume([aMessage(ofBulkInvite(bulk_invite))]);
    expect(await clinic.progressOf(bulk_invite)).toMatchObject({
      status: "completed",
      created_count: 1,
      failures: [{ row: 0, error: BELOW }],
    });
  });

  it("loses nothing if the level does not change", async () => {
    const { clinic, bea, hers } = await aClinicWithTwoAdmins();
    const endpoint = await endpointOf(hers);
    const sent = await invite(hers, { role_names: ["organization_admin"] });
    await given(change(clinic, bea, { display_name: "Bea", roles: ["provider", "organization_admin"] }));
    expect(await readEndpoint(clinic, endpoint)).toEqual(endpoint);
    expect(await clinic.pendingInvites()).toEqual([sent]);
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
    const endpoint = await endpointOf(clinic.client, { is_active: false });
    const invited = await invite(clinic.client, {});
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
    const role_names = ["organization_admin"];
    const above =
      "role_names: organization_admin is above your permission level; you may assign provider_assistant, provider";
    expectRefusal(
      await hers.post("/invites", { organization_invite: anInvite({ role_names }) }),
      422,
      `organization_invite.${above}`,
    );
    expectRefusal(
      await hers.post("/invites/bulk_create", { organization_invites: [anInvite({ role_names })] }),
      422,
      `organization_invites.0.${above}`,
    );
    await invite(hers, { role_names: ["provider"] });
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
      const left = async (query: string) =>
        env.DB.prepare(`select count(*) as n from ${query} and organization_id = ?`)
          .bind(clinic.id)
          .first("n");
      expect(await left("invites where used_at is null")).toBe(0);
      expect(await left("bulk_invite_rows where status = 'pending'")).toBe(0);
      expect(await left("webhook_endpoints where is_active")).toBe(0);
    },
  );
});
