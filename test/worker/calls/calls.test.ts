import { beforeAll, describe, expect, it } from "vitest";
import { aCall, reportCall, STARTED_AT, wrongPaths } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, unique } from "../support/organization.ts";
import { aClinicOfEveryRole, expectReach, type Member } from "../support/reach.ts";
import { changingNothing } from "../support/unchanged.ts";

describe("The first PUT …/calls/{key}", () => {
  it.each([
    ["2026-01-31T23:30:00.5+05:30", "2026-01-31T13:00:00-06:00"],
    ["2026-01-31T23:30:00.5+0530", "2026-01-31T13:00:00-0600"],
    ["2026-01-31T19:00:00.5+01", "2026-01-31T13:00-06"],
    ["2026-01-31t18:00:00.5z", "2026-01-31T19:00z"],
  ])("accepts times with any offset, and returns them in UTC: %s, %s", async (started_at, ended_at) => {
    const call = await aCall(await anOrganization(), { started_at, ended_at });
    expect((await call.report({})).body).toMatchObject({
      started_at: "2026-01-31T18:00:00.500Z",
      ended_at: "2026-01-31T19:00:00.000Z",
    });
  });

  it("accepts a key of any 255 characters, and distinguishes upper case", async () => {
    const clinic = await anOrganization();
    const { owner, room } = await aCall(clinic);
    const first = { waiting_room_slug: room.slug, organization_user_id: owner.id, started_at: STARTED_AT };
    const key = `${unique("visit/1 ü")}${"k".repeat(255)}`.slice(0, 255);
    const { body } = await reportCall(clinic, key, first);
    expect(body.key).toBe(key);
    expect((await reportCall(clinic, key, {})).body).toEqual(body);
    expect((await reportCall(clinic, key.toUpperCase(), first)).body.id).not.toBe(body.id);
  });
});

/** Paths below an organization user. `test/contract` has those of the results. */
const RESOURCES = ["", "/calls", "/calls/CALL", "/calls/CALL/participants", "/calls/CALL/consents"];

describe("GET /organization_users/{organization_user_id}/…", () => {
  let scene: Awaited<ReturnType<typeof aClinicOfEveryRole>>;

  beforeAll(async () => {
    scene = await aClinicOfEveryRole();
  });

  it.each(RESOURCES)("reaches only the organization users within the client's role: %s", async (tail) => {
    await expectReach(scene.members, tail);
  });

  it.each(RESOURCES.filter((tail) => tail.startsWith("/calls/CALL")))(
    "returns 404 under any path but the call's own, and changes nothing: %s",
    async (tail) => {
      const { clinic, members } = scene;
      const [{ call }, colleague] = members as [Member, Member];
      const theirs = await aCall(await anOrganization());
      const below = tail.replace("/calls/CALL", "");
      await changingNothing(async () => {
        for (const path of wrongPaths(call, theirs, colleague.call.owner)) {
          expectRefusal(await clinic.client.get(path + below), 404);
          const change = { call: { external_reference: "visit-1" } };
          if (below === "") expectRefusal(await clinic.client.put(path, change), 404);
        }
      });
    },
  );
});
