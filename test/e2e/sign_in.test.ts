import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { caller, platformCaller, type Server, startServer } from "./support/server.ts";

/** The keys of an identity provider are not fetched again within 30 s, so a rotation is noticed only after that. */
const COOLDOWN = 45_000;

type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

let server: Server;
let identityProvider: IdentityProvider;

beforeAll(async () => {
  [server, identityProvider] = await Promise.all([startServer(), startIdentityProvider()]);
});

afterAll(() => identityProvider?.stop());

async function aClinic() {
  const platform = platformCaller(server.url);
  const { body: organization } = await platform("POST", "/organizations", {
    organization: { name: "Hillside Clinic" },
  });
  const base = `/organizations/${organization.id}`;
  const { body: admin } = await platform("POST", `${base}/users`, {
    user: { email: `ada@${organization.slug}.example`, display_name: "Ada", roles: ["organization_admin"] },
  });
  const { body: client } = await platform("POST", `${base}/api_clients`, {
    api_client: { name: "Integration", organization_user_id: admin.id },
  });
  const { issuer, audience, jwks_url } = identityProvider;
  await platform("POST", `${base}/issuers`, { issuer: { issuer, audience, jwks_url } });
  const external = caller(`${server.url}/api/external`, {
    "X-Client-ID": client.client_id,
    "X-Client-Secret": client.client_secret,
  });
  const exchange = async (email: string) =>
    external("POST", "/auth/token_exchange", {
      token_exchange: { token: await identityProvider.signIn(email) },
    });
  return { organization, admin, platform, external, exchange };
}

describe("Signing in with an OpenID provider", () => {
  it("gives a code with which the web app finds out, once, who signed in", async () => {
    const { organization, admin, platform, exchange } = await aClinic();
    const exchanged = await exchange(admin.email);
    expect(exchanged).toEqual({ status: 200, body: { code: expect.any(String) } });
    const redeemed = await platform("POST", "/authorization_codes/redeem", exchanged.body);
    expect(redeemed).toEqual({
      status: 200,
      body: {
        organization: { id: organization.id, name: "Hillside Clinic", slug: organization.slug },
        user: { id: admin.user_id, email: admin.email, display_name: "Ada" },
        organization_user: { id: admin.id, roles: ["organization_admin"] },
      },
    });
    const again = await platform("POST", "/authorization_codes/redeem", exchanged.body);
    expect(again).toEqual({ status: 401, body: { error: "Invalid code" } });
  });

  it("works for an invitee after accepting the invite, and not before", async () => {
    const { organization, platform, external, exchange } = await aClinic();
    const email = `ivy@${organization.slug}.example`;
    expect(await exchange(email)).toEqual({ status: 401, body: { error: "Invalid token" } });
    const invite = await external("POST", "/invites", {
      organization_invite: { email, display_name: "Ivy", role_names: ["provider"] },
    });
    expect(invite.status).toBe(201);
    expect(await exchange(email)).toEqual({ status: 401, body: { error: "Please accept your invite" } });
    const { body: offered } = await platform("GET", `/invites/${invite.body.id}`);
    const token = new URL(offered.accept_url).searchParams.get("token");
    const accepted = await platform("POST", "/invites/accept", { token });
    expect(accepted).toMatchObject({ status: 200, body: { email, roles: ["provider"] } });
    expect((await exchange(email)).status).toBe(200);
  });

  it("still works after the provider has rotated its keys", { timeout: 2 * COOLDOWN }, async () => {
    const { admin, exchange } = await aClinic();
    expect((await exchange(admin.email)).status).toBe(200);
    await identityProvider.rotateKeys();
    await vi.waitFor(async () => expect((await exchange(admin.email)).status).toBe(200), {
      timeout: COOLDOWN,
      interval: 1000,
    });
  });
});

describe("Bulk invites", () => {
  it("are made in the background by the real queue", async () => {
    const { organization, external } = await aClinic();
    const rows = Array.from({ length: 120 }, (_, n) => ({
      email: `person-${n}@${organization.slug}.example`,
      display_name: `Person ${n}`,
      role_names: ["provider_assistant"],
    }));
    const bulk = await external("POST", "/invites/bulk_create", { organization_invites: rows });
    expect(bulk.status).toBe(201);
    const path = `/bulk_invites/${bulk.body.bulk_invite.id}`;
    await vi.waitFor(
      async () =>
        expect((await external("GET", path)).body.bulk_invite).toMatchObject({
          status: "completed",
          created_count: 120,
          failed_count: 0,
          failures: [],
        }),
      { timeout: 30_000, interval: 250 },
    );
    const listed = await external("GET", "/invites?per_page=100&page=2");
    expect(listed.body.organization_invites).toHaveLength(20);
  });
});
