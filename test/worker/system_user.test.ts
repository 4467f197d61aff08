import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../src/database/schema.ts";
import { platform } from "./support/api.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anIdentityProvider } from "./support/identity_provider.ts";
import { anInvite, anOrganization } from "./support/organization.ts";
import { changingNothing } from "./support/unchanged.ts";

const emails = [SYSTEM_USER.email, SYSTEM_USER.email.toLowerCase()];

describe("The System user, whom audit logs name,", () => {
  it("is one row of the migrated database, whose id no person gets", async () => {
    const { results } = await env.DB.prepare("select * from users where email not like '%@%'").all();
    expect(results).toEqual([SYSTEM_USER]);
    const { admin } = await anOrganization();
    expect(admin.user_id).toBeGreaterThan(SYSTEM_USER_ID);
  });

  it.each(emails)("cannot sign in, whatever a token says: %s", async (email) => {
    const clinic = await anOrganization();
    const provider = await anIdentityProvider();
    await provider.register(clinic);
    const token_exchange = { token: await provider.token({ email }) };
    expectRefusal(await clinic.client.post("/auth/token_exchange", { token_exchange }), 401, "Invalid token");
  });

  it.each(emails)("can be neither made a member nor invited: %s", async (email) => {
    const { id, client } = await anOrganization();
    const user = { email, display_name: "System", roles: ["provider"] };
    const organization_invite = anInvite({ email });
    const bulk_invite = { invites: [organization_invite] };
    for (const request of [
      () => platform.post(`/organizations/${id}/users`, { user }),
      () => client.post("/invites", { organization_invite }),
      () => client.post("/invites/bulk_create", bulk_invite),
    ])
      expect((await changingNothing(request)).status).toBe(422);
  });

  it("is of no organization, whatever code writes a membership", async () => {
    const { id, admin } = await anOrganization();
    const move = env.DB.prepare("update organization_users set user_id = ? where id = ?").bind(
      SYSTEM_USER_ID,
      admin.id,
    );
    await changingNothing(() => expect(move.run()).rejects.toThrow(/System user/));
    const statement = env.DB.prepare(
      `insert into organization_users (organization_id, user_id, display_name, roles, created_at, updated_at)
       values (?, ?, 'System', '[]', 0, 0)`,
    ).bind(id, SYSTEM_USER_ID);
    await changingNothing(() => expect(statement.run()).rejects.toThrow(/System user/));
  });
});
