import { describe, expect, it } from "vitest";
import { aTimestamp, expectGone, expectRefusal } from "../../worker/support/expectations.ts";
import { accept, create, list, listed, read, remove, travelToExpiry } from "../../worker/support/invites.ts";
import { anInvite, anOrganization, given } from "../../worker/support/organization.ts";
import { aClinicWithQueue, invitesOf } from "../../worker/support/queue.ts";
import { anEmail } from "../../worker/support/sign_in.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

const ROLES = ["provider_assistant", "provider", "organization_admin"];

async function aClinicWithInvite(more: object = {}) {
  const clinic = await anOrganization("Riverside Clinic");
  return { clinic, invite: await clinic.addInvite(more) };
}

/** A clinic whose client acts as a provider. */
async function aClinicOfProvider() {
  const clinic = await anOrganization();
  return { ...clinic, client: await clinic.addClient((await clinic.addProvider()).id) };
}

describe("Invite", () => {
  it("id: integer, unique", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    const other = await clinic.addInvite();
    for (const { id } of [invite, other]) expect(id).toSatisfy(Number.isSafeInteger);
    expect(other.id).not.toBe(invite.id);
  });

  it("email: string, invited address", async () => {
    const email = anEmail();
    expect((await aClinicWithInvite({ email })).invite.email).toBe(email);
  });

  it("display_name: string, display name of the invitee", async () => {
    const { invite } = await aClinicWithInvite({ display_name: "Ivy Invitee" });
    expect(invite.display_name).toBe("Ivy Invitee");
  });

  it("roles: array of string, roles granted", async () => {
    const { invite } = await aClinicWithInvite({ role_names: ["provider", "organization_admin"] });
    expect(invite.roles).toEqual(["provider", "organization_admin"]);
    expect((await given(accept(invite))).roles).toEqual(invite.roles);
  });

  it("organization_id: integer, owning organization", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expect(invite.organization_id).toBe(clinic.id);
  });

  it("organization_name: string, organization name", async () => {
    const { invite } = await aClinicWithInvite();
    expect(invite.organization_name).toBe("Riverside Clinic");
  });

  it("expires_at: string, timestamp", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expect(invite.expires_at).toEqual(aTimestamp);
    travelToExpiry(invite, -1);
    expect(await listed(clinic)).toEqual([invite]);
    travelToExpiry(invite);
    expect(await listed(clinic)).toEqual([]);
  });

  it("used_at: string, timestamp; null if not used", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expect(invite.used_at).toBeNull();
    const usedAt = fromNow(90);
    travelTo(usedAt);
    await given(accept(invite));
    expect((await read(clinic, invite)).body.used_at).toBe(usedAt);
  });

  it("created_at: string, timestamp", async () => {
    const before = fromNow(0);
    const { invite } = await aClinicWithInvite();
    expect(invite.created_at).toEqual(aTimestamp);
    expect(invite.created_at >= before && invite.created_at <= fromNow(0)).toBe(true);
  });

  it("updated_at: string, timestamp", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expect(invite.updated_at).toBe(invite.created_at);
    const later = fromNow(5);
    travelTo(later);
    await given(accept(invite));
    expect((await read(clinic, invite)).body.updated_at).toBe(later);
  });

  it("Valid role names: provider, provider_assistant, organization_admin.", async () => {
    const clinic = await anOrganization();
    for (const role of ROLES)
      expect(await create(clinic, { role_names: [role] })).toMatchObject({
        status: 201,
        body: { roles: [role] },
      });
    for (const role of ["owner", "Provider", "", null])
      expectRefusal(await create(clinic, { role_names: [role] }), 422, /^organization_invite\.role_names/);
  });

  it("A caller can assign only roles at or below its own permission level.", async () => {
    const clinic = await aClinicOfProvider();
    for (const role of ["provider_assistant", "provider"])
      expect((await create(clinic, { role_names: [role] })).status).toBe(201);
    const refused = await create(clinic, { role_names: ["organization_admin"] });
    expectRefusal(refused, 422, /^organization_invite\.role_names: .*organization_admin/);
  });
});

describe("GET /invites", () => {
  it("query page (integer, default 1), per_page (integer, default 25)", async () => {
    const clinic = await anOrganization();
    const invites: { id: number }[] = [];
    for (let n = 0; n < 26; n++) invites.push(await clinic.addInvite());
    expect(await listed(clinic)).toEqual(invites.slice(0, 25));
    expect(await listed(clinic, "?page=2")).toEqual(invites.slice(25));
    expect(await listed(clinic, "?per_page=10")).toEqual(invites.slice(0, 10));
    expect(await listed(clinic, "?page=3&per_page=10")).toEqual(invites.slice(20));
  });

  it("{organization_invites: [invite], pagination}", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expect(await list(clinic)).toEqual({
      organization_invites: [invite],
      pagination: { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 },
    });
  });

  it("active invites only", async () => {
    const { clinic, invite: expired } = await aClinicWithInvite();
    travelTo(fromNow(60));
    const [active, used, removed] = [
      await clinic.addInvite(),
      await clinic.addInvite(),
      await clinic.addInvite(),
    ];
    await given(accept(used));
    expectGone(await remove(clinic, removed));
    expect(await listed(clinic)).toEqual([expired, active]);
    travelToExpiry(expired);
    expect(await listed(clinic)).toEqual([active]);
  });
});

describe("GET /invites/{id}", () => {
  it("path id (integer); invite object", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    await clinic.addInvite();
    expect(await read(clinic, invite)).toMatchObject({ status: 200, body: invite });
  });
});

/** Missing parts of an invite, and the path of each. */
const MISSING: [string, object][] = [
  ["email", { email: undefined }],
  ["display_name", { display_name: undefined }],
  ["role_names", { role_names: undefined }],
  ["role_names", { role_names: [] }],
];

describe("POST /invites", () => {
  it("organization_invite object (required): email (string, required), display_name (string, required), role_names (array of string, required, at least one)", async () => {
    const clinic = await anOrganization();
    await changingNothing(async () => {
      expectRefusal(await clinic.client.post("/invites", {}), 422, "organization_invite: is required");
      for (const [field, missing] of MISSING)
        expectRefusal(await create(clinic, missing), 422, new RegExp(`^organization_invite\\.${field}: `));
    });
  });

  it("invite object (roles carries the granted roles)", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const email = anEmail();
    const role_names = ["provider", "organization_admin"];
    const created = await create(clinic, { email, display_name: "Ivy Invitee", role_names });
    expect(created.body).toMatchObject({
      id: expect.any(Number),
      email,
      display_name: "Ivy Invitee",
      roles: role_names,
      organization_id: clinic.id,
      organization_name: "Riverside Clinic",
      expires_at: aTimestamp,
      used_at: null,
      created_at: aTimestamp,
      updated_at: created.body.created_at,
    });
    expect(await read(clinic, created.body)).toMatchObject({ status: 200, body: created.body });
  });
});

describe("POST /invites/bulk_create", () => {
  it("organization_invites array (required) of objects each with email (string, required), display_name (string, required), role_names (array of string, required, at least one)", async () => {
    const { client } = await anOrganization();
    await changingNothing(async () => {
      const refused = await client.post("/invites/bulk_create", {});
      expectRefusal(refused, 422, "organization_invites: is required");
      for (const [field, missing] of MISSING) {
        const organization_invites = [anInvite(), anInvite(missing)];
        const refused = await client.post("/invites/bulk_create", { organization_invites });
        expectRefusal(refused, 422, new RegExp(`^organization_invites\\.1\\.${field}: `));
      }
    });
  });

  it("201; invites are created asynchronously in the background", async () => {
    const clinic = await aClinicWithQueue();
    const organization_invites = invitesOf(3);
    const { status } = await clinic.client.post("/invites/bulk_create", { organization_invites });
    expect(status).toBe(201);
    expect(await clinic.pendingInvites()).toEqual([]);
    await clinic.consume(clinic.queue.take());
    expect(await clinic.pendingInvites()).toMatchObject(
      organization_invites.map(({ email, display_name, role_names: roles }) => ({
        email,
        display_name,
        roles,
      })),
    );
  });
});

describe("DELETE /invites/{id}", () => {
  it("path id (integer); 204, empty", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    expectGone(await remove(clinic, invite));
  });

  it("removes a pending invite", async () => {
    const { clinic, invite } = await aClinicWithInvite();
    const other = await clinic.addInvite();
    expectGone(await remove(clinic, invite));
    expectRefusal(await read(clinic, invite), 404);
    expectRefusal(await clinic.platform.get(`/invites/${invite.id}`), 404);
    expect(await listed(clinic)).toEqual([other]);
  });
});

describe("Invites", () => {
  it("A roles endpoint exists for retrieving the exact roles the caller may assign", async () => {
    expect((await (await anOrganization()).client.get("/roles")).body).toEqual({ roles: ROLES });
    const { client } = await aClinicOfProvider();
    expect((await client.get("/roles")).body).toEqual({ roles: ["provider_assistant", "provider"] });
  });
});
