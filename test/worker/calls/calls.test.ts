import { beforeAll, describe, expect, it } from "vitest";
import { aCall, aRecipient, reportCall, STARTED_AT, wrongPaths } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, unique } from "../support/organization.ts";
import { aClinicOfEveryRole, expectReach, type Member } from "../support/reach.ts";
import { changingNothing } from "../support/unchanged.ts";

async function aFirstReport() {
  const clinic = await anOrganization();
  const { id, slug } = await clinic.addRoom();
  const provider = await clinic.addProvider();
  const key = unique("call");
  return {
    clinic,
    room: { id, slug } as { id: number; slug: string },
    provider,
    key,
    report: (call: object) => reportCall(clinic, key, call),
    first: { waiting_room_slug: slug, organization_user_id: provider.id, started_at: STARTED_AT },
  };
}

describe("The first PUT …/calls/{key}", () => {
  it.each([
    ["2026-01-31T23:30:00.5+05:30", "2026-01-31T13:00:00-06:00"],
    ["2026-01-31T23:30:00.5+0530", "2026-01-31T13:00:00-0600"],
    ["2026-01-31T19:00:00.5+01", "2026-01-31T13:00-06"],
    ["2026-01-31t18:00:00.5z", "2026-01-31T19:00z"],
  ])("accepts times with any offset, and returns them in UTC: %s, %s", async (started_at, ended_at) => {
    const { first, report } = await aFirstReport();
    expect((await report({ ...first, started_at, ended_at })).body).toMatchObject({
      started_at: "2026-01-31T18:00:00.500Z",
      ended_at: "2026-01-31T19:00:00.000Z",
    });
  });

  it.each([
    ["of 255 characters", "k".repeat(255)],
    ["with a slash, a space and an umlaut", "visit/1 ü"],
  ])("accepts a key %s", async (_, word) => {
    const { clinic, first } = await aFirstReport();
    const key = (unique("") + word).slice(0, 255);
    const { body } = await reportCall(clinic, key, first);
    expect(body.key).toBe(key);
    expect((await reportCall(clinic, key, {})).body).toEqual(body);
  });

  it("accepts null for an unknown field, also of a participant, like a missing field", async () => {
    const { first, report } = await aFirstReport();
    const unknown = { user_id: null, waiting_since: null, joined_at: null, left_at: null };
    const rita = aRecipient();
    const participants = [{ ...rita, ...unknown, recording_consent: null }];
    const { body } = await report({ ...first, ended_at: null, failed: null, participants });
    expect(body).toMatchObject({ is_ended: false, ended_at: null });
    const told = { key: rita.key, display_name: rita.display_name, role: rita.role };
    for (const again of [[told], []])
      await changingNothing(() => given(report({ ...first, participants: again })));
  });
});

it("PUT …/calls/{key} distinguishes keys by case", async () => {
  const { clinic, key, first, report } = await aFirstReport();
  const small = await given(report(first));
  const large = await given(reportCall(clinic, key.toUpperCase(), first));
  expect(large.id).not.toBe(small.id);
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
