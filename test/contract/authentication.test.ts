import { beforeAll, describe, expect, it } from "vitest";
import { api, PLATFORM_TOKEN } from "../worker/support/api.ts";
import { aCall } from "../worker/support/calls.ts";
import { expectRefusal, withoutRequestId } from "../worker/support/expectations.ts";
import { create } from "../worker/support/invites.ts";
import { anOrganization, given, unique } from "../worker/support/organization.ts";
import { aClinicOfEveryRole, expectReach, type Member } from "../worker/support/reach.ts";
import { aClinicWithSignIn, exchange, expectExchanged } from "../worker/support/sign_in.ts";
import { changingNothing } from "../worker/support/unchanged.ts";

describe("Authentication", () => {
  // test/worker/every_route/routes.long.test.ts covers every endpoint.
  it("1. Every endpoint is called with two request headers: X-Client-ID and X-Client-Secret.", async () => {
    const clinic = await anOrganization();
    const other = await anOrganization("Hillside Clinic");
    const { "X-Client-ID": id, "X-Client-Secret": secret } = clinic.client.credentials;
    const otherSecret = other.client.credentials["X-Client-Secret"];
    const revoked = await clinic.addClient(clinic.admin.id);
    await given(clinic.platform.delete(`/api_clients/${revoked.id}`));

    const faults: Record<string, string>[] = [
      { "X-Client-ID": id },
      { "X-Client-Secret": secret },
      { "X-Client-ID": "", "X-Client-Secret": "" },
      { "X-Client-ID": id, "X-Client-Secret": "" },
      { "X-Client-ID": "", "X-Client-Secret": secret },
      { "X-Client-ID": id, "X-Client-Secret": "wrong" },
      { "X-Client-ID": id, "X-Client-Secret": `${secret}x` },
      { "X-Client-ID": id, "X-Client-Secret": secret.slice(0, -1) },
      { "X-Client-ID": id, "X-Client-Secret": otherSecret },
      { "X-Client-ID": unique("nobody"), "X-Client-Secret": secret },
      { "X-Client-ID": secret, "X-Client-Secret": id },
      revoked.credentials,
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
    ];
    const forge = (credentials: Record<string, string>) =>
      api("/api/external", credentials).post("/waiting_rooms", { waiting_room: { name: "Forged" } });
    await changingNothing(async () => {
      const first = withoutRequestId(await forge({}));
      expect(first).toMatchObject({ status: 401, body: { error: "Invalid client credentials" } });
      for (const credentials of faults) expect(withoutRequestId(await forge(credentials))).toEqual(first);
    });
  });

  it("They identify the API client and, through it, the organization whose data is visible.", async () => {
    for (const clinic of [await anOrganization(), await anOrganization("Hillside Clinic")]) {
      const { id } = await clinic.addRoom();
      const client = api("/api/external", clinic.client.credentials);
      expect((await given(client.get("/api_client"))).id).toBe(clinic.client.id);
      expect((await given(client.get("/waiting_rooms"))).waiting_rooms).toMatchObject([{ id }]);
    }
  });

  it("2. The token exchange endpoint uses the same two headers; its request body carries the external JWT.", async () => {
    const { client, provider, email } = await aClinicWithSignIn();
    const token = await provider.token({ email });
    expectRefusal(await exchange(api("/api/external", {}), token), 401, "Invalid client credentials");
    await expectExchanged(client, token);
  });

  it("3. Access is limited to the client's organization.", async () => {
    const [ours, theirs] = [await anOrganization(), await anOrganization("Hillside Clinic")];
    const [room, call] = [await theirs.addRoom(), await aCall(theirs)];
    await given(call.reportSoapNote({ text: "Plan: rest.", is_final: true }));
    for (const path of [`/waiting_rooms/${room.slug}`, `${call.path}/soap_note`]) {
      await given(theirs.client.get(path));
      expectRefusal(await ours.client.get(path), 404);
    }
    expect((await given(ours.client.get("/waiting_rooms"))).waiting_rooms).toEqual([]);
  });

  describe("The authenticated user must have access to the organization user named in the path", () => {
    let members: Member[];

    beforeAll(async () => {
      ({ members } = await aClinicOfEveryRole());
    });

    it.each([
      "/calls/CALL/transcript",
      "/calls/CALL/soap_note",
      "/calls/CALL/egresses",
      "/calls/CALL/egresses/EGRESS",
      "/calls/CALL/egresses/EGRESS/audit_logs",
    ])("for transcript, SOAP note and egress endpoints: %s", async (tail) => {
      await expectReach(members, tail);
    });
  });

  const LEVELS = ["provider_assistant", "provider", "organization_admin"];

  it.each<[string[], number]>([
    [["provider_assistant"], 0],
    [["provider_assistant", "provider"], 1],
    [["organization_admin"], 2],
  ])(
    "4. Role limit: a caller can assign only roles at or below its own permission level when creating invites: %j",
    async (roles, level) => {
      const clinic = await anOrganization();
      const client = await clinic.addClient((await clinic.addUser("Cal Caller", roles)).id);
      const allowed = LEVELS.slice(0, level + 1);
      expect((await client.get("/roles")).body).toEqual({ roles: allowed });
      for (const role of allowed)
        expect((await create({ client }, { role_names: [role] })).body.roles).toEqual([role]);
      for (const role of LEVELS.slice(level + 1))
        for (const role_names of [[role], ["provider_assistant", role]])
          expectRefusal(
            await changingNothing(() => create({ client }, { role_names })),
            422,
            new RegExp(`^organization_invite\\.role_names: .*${role}`),
          );
    },
  );
});
