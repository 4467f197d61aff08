import { beforeAll, describe, expect, it } from "vitest";
import {
  aCall,
  aProviderOnTheCall,
  aRecipient,
  ENDED_AT,
  knownParticipant,
  reportCall,
  STARTED_AT,
  WAITING_SINCE,
  waitingCount,
  wrongPaths,
} from "../support/calls.ts";
import { aTimestamp, expectGone, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aClinicOfEveryRole, expectReach, type Member } from "../support/reach.ts";
import { changingNothing } from "../support/unchanged.ts";

const BEFORE = "2026-01-31T09:10:00.000Z";
const JOINED_AT = "2026-01-31T09:31:00.000Z";
const LEFT_AT = "2026-01-31T09:40:00.000Z";
const BACK_AT = "2026-01-31T09:50:00.000Z";

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

async function anOngoingCall(recipient: object = {}) {
  const clinic = await anOrganization();
  const rita = aRecipient({ waiting_since: WAITING_SINCE, joined_at: JOINED_AT, ...recipient });
  const call = await aCall(clinic, { ended_at: undefined, participants: [rita] });
  return { clinic, call, rita };
}

const failRate = async ({ client }: Organization) =>
  (await given(client.get("/call_metrics?date_start=2026-01-31&date_end=2026-01-31"))).call_fail_rate;

describe("The first PUT …/calls/{key}", () => {
  it("creates an ongoing call of the organization user, in the room", async () => {
    const { key, first, report, room, provider } = await aFirstReport();
    expect((await report(first)).body).toEqual({
      id: expect.any(Number),
      key,
      organization_user_id: provider.id,
      waiting_room_id: room.id,
      is_ended: false,
      started_at: STARTED_AT,
      ended_at: null,
      ended_by: null,
      failed: false,
      legal_hold: null,
      external_reference: null,
      visit_id: null,
    });
  });

  it("creates an ended call if it contains ended_at, even if it equals started_at", async () => {
    const { first, report } = await aFirstReport();
    const { body } = await report({ ...first, ended_at: STARTED_AT });
    expect(body).toMatchObject({ is_ended: true, started_at: STARTED_AT, ended_at: STARTED_AT });
  });

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

  it.each([
    ["waiting_room_slug", /waiting_room_slug/],
    ["organization_user_id", /organization_user_id/],
    ["started_at", /started_at/],
  ])("is refused without %s, and changes nothing", async (field, text) => {
    const { first, report } = await aFirstReport();
    const lacking = { ...first, [field]: undefined, participants: [aRecipient()] };
    const refused = await changingNothing(() => report(lacking));
    expectRefusal(refused, 422, text);
  });
});

const withParticipant = (fault: object) => ({ participants: [aRecipient(fault)] });

describe.each(["first", "later"])("The %s PUT …/calls/{key}", (which) => {
  it.each<[string, object, RegExp]>([
    ["a started_at with half an offset", { started_at: "2026-01-31T09:30:00+1" }, /call\.started_at/],
    ["a started_at with a bare sign", { started_at: "2026-01-31T09:30:00+01:" }, /call\.started_at/],
    [
      "a started_at after the year 9999 in UTC",
      { started_at: "9999-12-31T23:30:00-01:00" },
      /call\.started_at/,
    ],
    [
      "a started_at before the year 0 in UTC",
      { started_at: "0000-01-01T00:30:00+01:00" },
      /call\.started_at/,
    ],
    ["an ended_at before started_at", { ended_at: "2026-01-31T09:29:59.999Z" }, /call\.ended_at/],
    ["a new participant without a name", withParticipant({ display_name: undefined }), /display_name/],
    ["a new participant without a role", withParticipant({ role: undefined }), /role/],
    ["a participant named twice", { participants: Array(2).fill(aRecipient()) }, /call\.participants/],
  ])("is refused with %s, and changes nothing", async (_, fault, text) => {
    const { first, report } = await aFirstReport();
    const rita = aRecipient({ waiting_since: WAITING_SINCE });
    if (which === "later") await given(report({ ...first, participants: [rita] }));
    // `failed` is a valid change, which would be noticed.
    const faulty = { ...(which === "first" ? first : {}), failed: true, ...fault };
    const refused = await changingNothing(() => report(faulty));
    expectRefusal(refused, 422, text);
  });
});

describe("A later PUT …/calls/{key}", () => {
  it("changes nothing if it is empty or repeats the first report", async () => {
    const { first, report, provider } = await aFirstReport();
    const full = {
      ...first,
      ended_at: ENDED_AT,
      failed: true,
      participants: [
        aProviderOnTheCall({ user_id: provider.user_id, joined_at: STARTED_AT, left_at: ENDED_AT }),
        aRecipient({ waiting_since: WAITING_SINCE, joined_at: JOINED_AT, left_at: LEFT_AT }),
        aRecipient({ recording_consent: false, recording_consent_at: JOINED_AT }),
        aRecipient({ recording_consent: undefined }),
      ],
    };
    const answer = await given(report(full));
    const repeated = await changingNothing(() => report(full));
    expect(repeated).toMatchObject({ status: 200, body: answer });
    const silent = await changingNothing(() => report({}));
    expect(silent).toMatchObject({ status: 200, body: answer });
  });

  it("changes every field that it contains", async () => {
    const { clinic, call, rita } = await anOngoingCall();
    const other = await clinic.addProvider();
    const change = { organization_user_id: other.id, started_at: JOINED_AT, ended_at: BACK_AT };
    const { body } = await call.report({
      ...change,
      failed: true,
      legal_hold: true,
      external_reference: "visit-1",
    });
    expect(body).toEqual({
      id: call.id,
      key: call.key,
      waiting_room_id: call.room.id,
      is_ended: true,
      ended_by: "reported",
      ...change,
      failed: true,
      legal_hold: { reason: null, began_at: aTimestamp, begun_by: "platform" },
      external_reference: "visit-1",
      visit_id: null,
    });
    expect(await failRate(clinic)).toEqual({ "2026-01-31": 1 });

    const before = await knownParticipant(call.room.slug, rita.key);
    const participant = {
      display_name: "Paula",
      role: "provider",
      user_id: other.user_id,
      waiting_since: BEFORE,
      joined_at: STARTED_AT,
      left_at: LEFT_AT,
    };
    await given(call.report({ participants: [{ key: rita.key, ...participant }] }));
    expect(await knownParticipant(call.room.slug, rita.key)).toEqual({ ...before, ...participant });
  });

  it("clears optional fields with null", async () => {
    const { clinic, call, rita } = await anOngoingCall();
    const { user_id } = await clinic.addProvider();
    await given(call.report({ failed: true, participants: [{ key: rita.key, user_id }] }));
    const before = await knownParticipant(call.room.slug, rita.key);
    await given(
      call.report({ failed: null, participants: [{ key: rita.key, user_id: null, joined_at: null }] }),
    );
    expect(await knownParticipant(call.room.slug, rita.key)).toEqual({
      ...before,
      user_id: null,
      joined_at: null,
    });
    expect(await failRate(clinic)).toEqual({ "2026-01-31": 0 });
  });

  it.each([
    ["ends before the known start", { ended_at: "2026-01-31T09:29:59.999Z" }, /call\.ended_at/],
    ["starts after the known end", { started_at: "2026-01-31T10:00:00.001Z" }, /call\.started_at/],
  ])("is refused if the call then %s, and changes nothing", async (_, fault, error) => {
    const call = await aCall(await anOrganization());
    const refused = await changingNothing(() => call.report({ ...fault, failed: true }));
    expectRefusal(refused, 422, error);
  });
});

it("PUT …/calls/{key} keeps the room of the first report, whatever later reports name, even if the room is retired", async () => {
  const { clinic, first, report, room } = await aFirstReport();
  const participants = [aRecipient({ waiting_since: WAITING_SINCE })];
  const answer = await given(report({ ...first, ended_at: ENDED_AT, participants }));
  const other = await clinic.addRoom({ name: "Lungs" });
  for (const waiting_room_slug of [other.slug, unique("nowhere"), ""])
    expect(await changingNothing(() => report({ ...first, waiting_room_slug }))).toMatchObject({
      status: 200,
      body: answer,
    });
  expectGone(await clinic.client.delete(`/waiting_rooms/${room.slug}`));
  const corrected = await report({ ...first, ended_at: BACK_AT, participants: [aRecipient()] });
  expect(corrected).toMatchObject({ status: 200, body: { ...answer, ended_at: BACK_AT } });
});

it("PUT …/calls/{key} distinguishes keys by case", async () => {
  const { clinic, key, first, report } = await aFirstReport();
  const small = await given(report(first));
  const large = await given(reportCall(clinic, key.toUpperCase(), first));
  expect(large.id).not.toBe(small.id);
});

describe("A participant in PUT …/calls/{key}", () => {
  it("moves from a waiting room to the call by the same key, and no longer waits", async () => {
    const { clinic, first, report, room } = await aFirstReport();
    const other = await clinic.addRoom({ name: "Lungs" });
    const rita = unique("rita");
    const { user_id } = await clinic.addProvider();
    const waits = { waiting_since: WAITING_SINCE, user_id };
    const waiting = await clinic.addParticipant(other.slug, waits, rita);
    expect(await waitingCount(clinic, other.slug)).toBe(1);
    const { id } = await given(report({ ...first, participants: [{ key: rita, joined_at: JOINED_AT }] }));
    expect(await knownParticipant(room.slug, rita)).toEqual({
      ...waiting,
      waiting_room_id: room.id,
      call_id: id,
      joined_at: JOINED_AT,
    });
    expect(await waitingCount(clinic, other.slug)).toBe(0);
    expectGone(await clinic.client.delete(`/waiting_rooms/${other.slug}`));
  });

  it("is created in the room of the call if the key is new", async () => {
    const { clinic, first, report, room, provider } = await aFirstReport();
    const paula = {
      key: unique("paula"),
      display_name: " Paula Provider ",
      role: "provider",
      user_id: provider.user_id,
      waiting_since: WAITING_SINCE,
      joined_at: JOINED_AT,
    };
    const { id } = await given(report({ ...first, participants: [paula] }));
    expect(await knownParticipant(room.slug, paula.key)).toEqual({
      id: expect.any(Number),
      ...paula,
      display_name: "Paula Provider",
      waiting_room_id: room.id,
      call_id: id,
      left_at: null,
    });
    expect(await waitingCount(clinic, room.slug)).toBe(0);
  });

  it.each([
    ["going on", { ended_at: undefined }],
    ["over", {}],
  ])("is refused if they are on another call that is %s, and nothing changes", async (_, state) => {
    const clinic = await anOrganization();
    const other = await aCall(clinic, state);
    const { room, owner } = await aCall(clinic);
    const report = {
      waiting_room_slug: room.slug,
      organization_user_id: owner.id,
      started_at: STARTED_AT,
      participants: [aRecipient(), aRecipient({ key: other.participants[1].key })],
    };
    const refused = await changingNothing(() => reportCall(clinic, unique("call"), report));
    expectRefusal(refused, 422, /another call/);
    const existing = await aCall(clinic);
    const moved = await changingNothing(() =>
      existing.report({ failed: true, participants: report.participants }),
    );
    expectRefusal(moved, 422, /another call/);
  });
});

describe("PUT …/calls/{key} with ended_at", () => {
  it("marks everybody as left, keeps earlier left_at times, and late reports bring nobody back", async () => {
    const { call, rita } = await anOngoingCall();
    const paul = aRecipient({ waiting_since: WAITING_SINCE, joined_at: JOINED_AT, left_at: LEFT_AT });
    await given(call.report({ participants: [paul] }));
    const leftAt = async ({ key }: { key: string }) => (await knownParticipant(call.room.slug, key)).left_at;
    expect(await leftAt(rita)).toBeNull();
    await given(call.report({ ended_at: ENDED_AT }));
    const late = aRecipient({ waiting_since: WAITING_SINCE, joined_at: JOINED_AT });
    await given(call.report({ participants: [late, { ...rita, left_at: null }] }));
    expect([await leftAt(rita), await leftAt(paul), await leftAt(late)]).toEqual([
      ENDED_AT,
      LEFT_AT,
      ENDED_AT,
    ]);
  });
});

describe("GET /organization_users/{organization_user_id}/calls", () => {
  it("lists the newest call first, calls of the same moment by id, with only the fields of a list", async () => {
    const clinic = await anOrganization();
    const provider = await clinic.addProvider();
    const at = (started_at: string, more: object = {}) =>
      aCall(clinic, { started_at, ended_at: undefined, ...more }, provider);
    const middle = await at("2026-01-31T09:30:00.000Z");
    const oldest = await at("2026-01-31T09:29:59.999Z", { ended_at: ENDED_AT });
    const newest = await at("2026-01-31T09:30:00.001Z");
    const alike = await at("2026-01-31T09:30:00.000Z");
    expect((await clinic.client.get(`/organization_users/${provider.id}/calls`)).body).toEqual({
      calls: [
        { call: newest, started_at: "2026-01-31T09:30:00.001Z", ended_at: null },
        { call: alike, started_at: "2026-01-31T09:30:00.000Z", ended_at: null },
        { call: middle, started_at: "2026-01-31T09:30:00.000Z", ended_at: null },
        { call: oldest, started_at: "2026-01-31T09:29:59.999Z", ended_at: ENDED_AT },
      ].map(({ call, started_at, ended_at }) => ({
        id: call.id,
        organization_user_id: provider.id,
        waiting_room_id: call.room.id,
        is_ended: ended_at !== null,
        started_at,
        ended_at,
        visit_id: null,
        results: { transcript: "none", soap_note: "none", egresses: 0 },
      })),
      next_after: null,
    });
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
