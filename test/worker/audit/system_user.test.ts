import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { aCall, reportEgress } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { remove } from "../support/members.ts";
import { anOrganization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

describe("The System user", () => {
  it("has a lower id than every organization user", async () => {
    expect((await anOrganization()).admin.id).toBeGreaterThan(SYSTEM_USER_ID);
    const lowest = await env.DB.prepare("select min(id) as id from organization_users").first<number>("id");
    expect(lowest).toBeGreaterThan(SYSTEM_USER_ID);
  });

  it("cannot become a member of an organization through any SQL statement", async () => {
    const { id, addUser } = await anOrganization();
    const member = await addUser("Al Assistant", ["provider_assistant"]);
    for (const statement of [
      env.DB.prepare("update organization_users set id = ? where id = ?").bind(SYSTEM_USER_ID, member.id),
      env.DB.prepare(
        `insert into organization_users (id, organization_id, email, display_name, roles, created_at, updated_at)
         values (?, ?, 'system@example.com', 'System', '[]', 0, 0)`,
      ).bind(SYSTEM_USER_ID, id),
    ])
      await changingNothing(() => expect(statement.run()).rejects.toThrow(/organization_users_are_people/));
  });

  it("is refused wherever a request names an organization user", async () => {
    const clinic = await anOrganization();
    const { key, room } = await aCall(clinic);
    const egress = { call_key: key, status: "egress_starting", user_id: SYSTEM_USER_ID };
    const waiting_room_sub = { user_id: SYSTEM_USER_ID, datetime_start: "2126-01-31T09:30:00Z" };
    const api_client = { name: "Integration", organization_user_id: SYSTEM_USER_ID };
    for (const [status, request] of [
      [404, () => remove(clinic, { id: SYSTEM_USER_ID })],
      [404, () => clinic.client.get(`/organization_users/${SYSTEM_USER_ID}`)],
      [422, () => clinic.platform.post("/api_clients", { api_client })],
      [422, () => reportEgress(clinic, "by-system", egress)],
      [422, () => clinic.client.post(`/waiting_rooms/${room.slug}/waiting_room_subs`, { waiting_room_sub })],
    ] as const)
      expectRefusal(await changingNothing<Awaited<ReturnType<typeof remove>>>(request), status);
  });
});
