import { describe, expect, it } from "vitest";
import { aTimestamp, expectGone, expectRefusal } from "../../worker/support/expectations.ts";
import { accept, create, listed, read, remove, travelToExpiry } from "../../worker/support/invites.ts";
import { anInvite, anOrganization, given } from "../../worker/support/organization.ts";
import { aClinicWithQueue, invitesOf } from "../../worker/support/queue.ts";
import { fromNow, travelTo } from "../../worker/support/time.ts";
import { changingNothing } from "../../worker/support/unchanged.ts";

const ROLES = ["provider_assistant", "provider", "organization_admin"];

describe("Invite", () => {
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
});

describe("GET /invites", () => {
  it("query page (integer, default 1), per_page (integer, default 25)", async () => {
    const clinic = await anOrganization();
    const invites = await Promise.all(Array.from({ length: 26 }, () => clinic.addInvite()));
    const ordered = invites.toSorted((one, other) => one.id - other.id);
    expect(await listed(clinic)).toEqual(ordered.slice(0, 25));
    expect(await listed(clinic, "?page=3&per_page=10")).toEqual(ordered.slice(20));
  });

  it("active invites only", async () => {
    const clinic = await anOrganization();
    const expired = await clinic.addInvite();
    travelTo(fromNow(60));
    const [active, used] = [await clinic.addInvite(), await clinic.addInvite()];
    await given(accept(used));
    expect(await listed(clinic)).toEqual([expired, active]);
    travelToExpiry(expired);
    expect(await listed(clinic)).toEqual([active]);
  });
});

/** Missing parts of an invite, and the path of each. */
const MISSING: [string, object][] = [
  ["email", { email: undefined }],
  ["display_name", { display_name: undefined }],
  ["role_names", { role_names: undefined }],
  ["role_names", { role_names: null }],
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
    const { role_names: roles, ...invitee } = anInvite({ role_names: ["provider", "organization_admin"] });
    const created = await create(clinic, { ...invitee, role_names: roles });
    expect(created.body).toMatchObject({
      id: expect.any(Number),
      ...invitee,
      roles,
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
      organization_invites.map(({ role_names: roles, ...invitee }) => ({ ...invitee, roles })),
    );
  });
});

describe("DELETE /invites/{id}", () => {
  it("removes a pending invite", async () => {
    const clinic = await anOrganization();
    const [invite, other] = [await clinic.addInvite(), await clinic.addInvite()];
    expectGone(await remove(clinic, invite));
    expectRefusal(await read(clinic, invite), 404);
    expect(await listed(clinic)).toEqual([other]);
  });
});
