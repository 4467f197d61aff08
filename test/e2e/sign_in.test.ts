import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { eventually } from "./support/eventually.ts";
import { aClinicWithSignIn, type IdentityProvider } from "./support/sign_in.ts";

const server = inject("sharedServer");

let identityProvider: IdentityProvider;

beforeAll(async () => {
  identityProvider = await startIdentityProvider();
});

afterAll(() => identityProvider?.stop());

const aClinic = () => aClinicWithSignIn(server.url, identityProvider);

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
        user: { id: admin.user_id, email: admin.email, display_name: admin.display_name },
        organization_user: { id: admin.id, roles: ["organization_admin"] },
      },
    });
    const again = await platform("POST", "/authorization_codes/redeem", exchanged.body);
    expect(again).toEqual({ status: 401, body: { error: "Invalid code" } });
  });

  it("works for an invitee after accepting the invite, and not before", async () => {
    const { organization, base, platform, external, exchange } = await aClinic();
    const email = `ivy@${organization.slug}.example`;
    expect(await exchange(email)).toEqual({ status: 401, body: { error: "Invalid token" } });
    const invite = await external("POST", "/invites", {
      organization_invite: { email, display_name: "Ivy", role_names: ["provider"] },
    });
    expect(invite.status).toBe(201);
    expect(await exchange(email)).toEqual({ status: 401, body: { error: "Please accept your invite" } });
    const { body: offered } = await platform("GET", `${base}/invites/${invite.body.id}`);
    const token = new URL(offered.accept_url).searchParams.get("token");
    const accepted = await platform("POST", "/invites/accept", { token });
    expect(accepted).toMatchObject({ status: 200, body: { email, roles: ["provider"] } });
    expect((await exchange(email)).status).toBe(200);
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
    await eventually(async () =>
      expect((await external("GET", path)).body.bulk_invite).toMatchObject({
        status: "completed",
        created_count: 120,
        failed_count: 0,
        failures: [],
      }),
    );
    const listed = await external("GET", "/invites?per_page=100&page=2");
    expect(listed.body.organization_invites).toHaveLength(20);
  });
});
