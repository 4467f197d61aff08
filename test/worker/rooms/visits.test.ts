import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { entriesAbout, entriesOfRequest } from "../support/access_logs.ts";
import { platform } from "../support/api.ts";
import { atOnce, statusesOf } from "../support/at_once.ts";
import { aCall, ENDED_AT, STARTED_AT, WAITING_SINCE } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { tokenOf } from "../support/invites.ts";
import { aLiveKitRoom, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aClinicWithQueue, aQueue, workerWith } from "../support/queue.ts";
import { dateAhead, fromNow, timeAhead, travelTo } from "../support/time.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";
import {
  aPlan,
  keyOf,
  letPass,
  planVisit,
  readVisit,
  redeem,
  tokenOfLink,
  type Visit,
} from "../support/visits.ts";

const MINUTES_OF_DAY = 24 * 60;

const RITA = {
  role: "recipient",
  display_name: "Rita Recipient",
  user_id: null,
  external_reference: "patient-4711",
};

async function aPlannedVisit(plan: object = {}) {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const visit = await planVisit(clinic, room.slug, plan);
  const path = `/visits/${visit.id}`;
  const change = (fields: object) => clinic.client.put(path, { visit: fields });
  return { clinic, room, visit, path, change };
}

/** A visit that starts in ten minutes and lasts twenty, with functions to follow it over time. */
async function aVisitToday() {
  const { clinic, room, visit, path } = await aPlannedVisit({
    starts_at: fromNow(10),
    ends_at: fromNow(30),
    participants: [RITA],
  });
  const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });
  const status = async () => (await readVisit(clinic, visit)).status;
  const call = (more: object = {}) =>
    aCall(clinic, {
      started_at: fromNow(0),
      ended_at: null,
      participants: [{ key: keyOf(visit) }],
      ...more,
    });
  return { clinic, room, visit, path, runCron, status, call };
}

async function visitEvents({ client }: Pick<Organization, "client">) {
  const { events } = await given(client.get("/events?type=visit.*&per_page=100"));
  return events.map(({ type, data }: { type: string; data: { visit_id: number } }) => ({ type, ...data }));
}

const cancel = ({ client }: Organization, { id }: { id: number }) => client.delete(`/visits/${id}`);

/** A participant waits under this key. */
const waits = (slug: string, key: string, participant: object = { waiting_since: WAITING_SINCE }) =>
  platform.put(`/waiting_rooms/${slug}/participants/${key}`, { participant });

describe("POST /visits", () => {
  it("returns the same visit and links for a repeated Idempotency-Key", async () => {
    const clinic = await anOrganization();
    const body = { visit: aPlan((await clinic.addRoom()).slug, { participants: [RITA, RITA] }) };
    const post = () => clinic.client.send("POST", "/visits", body, { "Idempotency-Key": "visit-1" });
    const first = await given(post());
    const replay = await changingOnlyTheLog(post);
    expect(replay).toMatchObject({ status: 201, body: first });
    expect(await entriesOfRequest(replay)).toMatchObject([
      { event: "read", resource: "visit", resource_id: first.id },
    ]);
    expect(JSON.stringify(await storedRows(clinic, "idempotency_keys"))).not.toMatch(/Rita|patient|visit=/);
  });

  it("is refused if the organization has 100,000 planned visits, until one is cancelled", async () => {
    const { clinic, room, visit } = await aPlannedVisit();
    const counted = "update visit_daily_metrics set planned = 100000 where organization_id = ? and date = ''";
    expect((await env.DB.prepare(counted).bind(clinic.id).run()).meta.changes).toBe(1);
    const plan = () => clinic.client.post("/visits", { visit: aPlan(room.slug) });
    expectRefusal(await plan(), 422, /has 100,000 planned visits, which is the most that it can have/);
    await given(cancel(clinic, visit));
    expect(statusesOf(await atOnce(4, plan))).toMatchObject({ 201: 1 });
  });
});

it("A visit can be read, but not changed, by clients that reach the holder of one of its calls", async () => {
  const clinic = await anOrganization();
  const [paula, sam] = [await clinic.addProvider(), await clinic.addProvider("Sam Substitute")];
  const ann = await clinic.addUser("Ann", ["provider_assistant"], { assists: [sam.id] });
  const peter = await clinic.addProvider("Peter");
  const visit = await planVisit(clinic, paula.waiting_room_slug);
  const reaching = [await clinic.addClient(sam.id), await clinic.addClient(ann.id)];
  const peters = await clinic.addClient(peter.id);
  const path = `/visits/${visit.id}`;
  for (const client of [...reaching, peters]) expectRefusal(await client.get(path), 404);
  const call = await aCall(clinic, { participants: [{ key: keyOf(visit) }], ended_at: null }, sam);
  for (const client of reaching) {
    expect(await client.get(path)).toMatchObject({ status: 200, body: { call_ids: [call.id] } });
    expectRefusal(await client.put(path, { visit: { external_reference: "x" } }), 404);
  }
  expectRefusal(await peters.get(path), 404);
  expect(await entriesAbout(clinic, "read", "visit")).toHaveLength(2);
});

const INVALID_LINK = "The link of the visit is not valid: ask the organization for a new one";

describe("POST /visits/redeem", () => {
  it("takes a link without personal data, and returns the current slug of the room", async () => {
    const { clinic, room, visit } = await aPlannedVisit();
    const [, claims = ""] = tokenOfLink(visit).split(".");
    expect(JSON.parse(atob(claims))).toEqual({
      sub: String(visit.participants[0]?.id),
      organization_id: clinic.id,
      visit_id: visit.id,
      created_at: expect.any(Number),
    });
    const { slug } = await given(
      clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { name: unique("Lungs") } }),
    );
    const [now] = (await readVisit(clinic, visit)).participants;
    const link = new RegExp(`^https://app\\.[\\w.]+/meet/${slug}\\?visit=[\\w-]+\\.[\\w-]+\\.[\\w-]+$`);
    expect(now?.join_url).toMatch(link);
    expect((await redeem(tokenOfLink(visit))).body).toMatchObject({ waiting_room_slug: slug });
  });

  it("refuses a forged link and the link of an invite, and accepts a link until 24 hours after the end of the visit", async () => {
    const { clinic, visit } = await aPlannedVisit();
    const token = tokenOfLink(visit);
    const [header, claims, signature] = token.split(".");
    const other = atob(claims ?? "").replace(/"visit_id":\d+/, `"visit_id":${visit.id + 1}`);
    const encoded = (text: string) => btoa(text).replaceAll("=", "");
    for (const forged of [
      ...["x", "a.b.c", `${header}.${claims}.`, `${header}.${encoded(other)}.${signature}`],
      `${encoded('{"alg":"none"}')}.${claims}.`,
      await tokenOf(await clinic.addInvite()),
    ])
      expectRefusal(await redeem(forged), 404, INVALID_LINK);
    expectRefusal(await platform.post("/invites/accept", { token }), 404);
    travelTo(timeAhead("10:29:59.999", 1));
    expect((await redeem(token)).status).toBe(200);
    travelTo(timeAhead("10:30:00.000", 1));
    expectRefusal(await redeem(token), 422, "The visit is over: plan another one");
  });

  it("refuses the link of a removed participant, and of a retired room", async () => {
    const { clinic, room, visit, change } = await aPlannedVisit();
    const { participants } = await given(change({ participants: [RITA] }));
    expectRefusal(await redeem(tokenOfLink(visit)), 404, /no longer valid: its participant was removed/);
    await given(clinic.client.delete(`/waiting_rooms/${room.slug}`));
    const token = tokenOfLink({ ...visit, participants });
    expectRefusal(await redeem(token), 404, /no longer valid: the waiting room was retired/);
  });

  it("refuses the link of a visit that a restore lost, even if another visit got its id", async () => {
    const { clinic, visit } = await aPlannedVisit();
    const token = tokenOfLink(visit);
    await env.DB.prepare("update visits set created_at = created_at + 1 where id = ?").bind(visit.id).run();
    expectRefusal(await redeem(token), 404, INVALID_LINK);
    expect((await redeem(tokenOfLink(await readVisit(clinic, visit)))).status).toBe(200);
  });
});

describe("A participant who came by a link", () => {
  it("is shown in the waiting room with name, role, reference and visit", async () => {
    const { clinic, room, visit } = await aPlannedVisit({ participants: [RITA] });
    await given(waits(room.slug, keyOf(visit)));
    const { participants } = await given(clinic.client.get(`/waiting_rooms/${room.slug}/participants`));
    expect(participants).toEqual([
      { ...RITA, id: expect.any(Number), visit_id: visit.id, waiting_since: WAITING_SINCE },
    ]);
    expect(await readVisit(clinic, visit)).toMatchObject({ status: "planned" });
  });

  it("is known on all calls as the visit names them, whatever reports say; the calls get the visit and its reference", async () => {
    const { clinic, visit } = await aPlannedVisit({ participants: [RITA], external_reference: "visit-1" });
    const said = { key: `2nd:${keyOf(visit)}`, display_name: "R.", external_reference: null };
    const call = await aCall(clinic, { participants: [{ key: keyOf(visit) }, said] });
    const shown = await given(clinic.client.get(call.path));
    expect(shown).toMatchObject({ visit_id: visit.id, external_reference: "visit-1" });
    const { participants } = await given(clinic.client.get(`${call.path}/participants`));
    expect(participants).toMatchObject([RITA, RITA]);
    expect(await readVisit(clinic, visit)).toMatchObject({ status: "started", call_ids: [call.id] });
    const mine = { external_reference: "mine" };
    const own = await aCall(clinic, { participants: [{ key: `${keyOf(visit)}:3` }], ...mine });
    expect(await given(clinic.client.get(own.path))).toMatchObject({ visit_id: visit.id, ...mine });
    expect(await readVisit(clinic, visit)).toMatchObject({ call_ids: [call.id, own.id] });
  });

  it("is not known by a key of another organization, nor of a cancelled visit or a removed participant, even if they waited before", async () => {
    const { clinic, room, visit, change } = await aPlannedVisit({ participants: [RITA, RITA, RITA] });
    const [cancelled, waiting] = [await planVisit(clinic, room.slug), await planVisit(clinic, room.slug)];
    for (const key of [keyOf(visit), keyOf(waiting)]) await given(waits(room.slug, key));
    await given(change({ participants: [{ id: visit.participants[2]?.id }] }));
    for (const each of [cancelled, waiting]) await given(cancel(clinic, each));
    const { visit: theirs } = await aPlannedVisit();
    const misspelt = [`x${keyOf(visit, 2)}`, `${keyOf(visit, 2)}0`];
    const keys = [
      keyOf(visit),
      keyOf(visit, 1),
      keyOf(cancelled),
      keyOf(waiting),
      keyOf(theirs),
      ...misspelt,
    ];
    const participants = keys.map((key) => ({ key, display_name: "Anybody", role: "recipient" }));
    const call = await aCall(clinic, { participants });
    expect(await given(clinic.client.get(call.path))).toMatchObject({ visit_id: null });
    const unnamed = await call.report({ participants: [{ key: `2nd:${keyOf(visit)}` }] });
    expectRefusal(unnamed, 422, /display_name/);
    for (const each of [visit, cancelled, waiting])
      expect((await readVisit(clinic, each)).call_ids).toEqual([]);
  });

  it("gives the call its visit and reference if they came first, even if reports repeat", async () => {
    const { clinic, room, visit, change } = await aPlannedVisit();
    const other = await planVisit(clinic, room.slug, { external_reference: "of-another" });
    const call = await aCall(clinic, { ended_at: null, participants: [{ key: keyOf(visit) }] });
    const shown = () => given(clinic.client.get(call.path));
    const both = { participants: [{ key: keyOf(visit) }, { key: keyOf(other) }] };
    await given(call.report(both));
    expect(await shown()).toMatchObject({ visit_id: visit.id, external_reference: null });
    await given(change({ external_reference: "later" }));
    await changingNothing(() => given(call.report(both)));
    expect(await shown()).toMatchObject({ visit_id: visit.id, external_reference: "later" });

    // Participants of both visits came, so the call belongs to both.
    expect((await readVisit(clinic, other)).call_ids).toEqual([call.id]);
    await letPass(other);
    const { runCron } = workerWith({ BULK_INVITES: aQueue().binding });
    await runCron();
    expect((await readVisit(clinic, other)).status).toBe("started");
    await given(call.report({ ended_at: ENDED_AT }));
    await runCron();
    expect((await readVisit(clinic, other)).status).toBe("ended");
  });

  it("is not someone who had the same key before the visit was planned", async () => {
    const { clinic, visit, room } = await aPlannedVisit();
    const next = `visit-${visit.id + 1}-1`;
    const known = { key: next, display_name: "Somebody else", role: "recipient" };
    const call = await aCall(clinic, { participants: [known] });
    const planned = await planVisit(clinic, room.slug);
    expect(keyOf(planned)).toBe(next);
    await changingNothing(() => given(call.report({ participants: [known] })));
    expect(await readVisit(clinic, planned)).toMatchObject({ status: "planned", call_ids: [] });
  });

  it("has the role in the visit, whatever role is reported; the visit starts with a recipient", async () => {
    const clinic = await anOrganization();
    const { user_id } = await clinic.addProvider();
    const visit = await planVisit(clinic, (await clinic.addRoom()).slug, {
      participants: [{ role: "provider", display_name: "Dr. Paula", user_id }, RITA],
    });
    const call = await aCall(clinic, { participants: [{ key: keyOf(visit), role: "recipient" }] });
    expect(await readVisit(clinic, visit)).toMatchObject({ status: "planned", call_ids: [call.id] });
    await given(call.report({ participants: [{ key: keyOf(visit, 1), role: "provider" }] }));
    expect((await readVisit(clinic, visit)).status).toBe("started");
    const started = { type: "visit.started", visit_id: visit.id, call_id: call.id };
    expect((await visitEvents(clinic)).at(-1)).toEqual(started);
  });
});

it("A visit starts once and has all its calls, even if the platform and LiveKit report its end first", async () => {
  const clinic = await aClinicWithQueue();
  const [waitingRoom, owner] = [await clinic.addRoom(), await clinic.addProvider()];
  const visit = await planVisit(clinic, waitingRoom.slug, { participants: [RITA] });
  const room = await aLiveKitRoom(clinic);
  const [key, call] = [keyOf(visit), unique("call")];
  const first = {
    waiting_room_slug: waitingRoom.slug,
    organization_user_id: owner.id,
    started_at: STARTED_AT,
    participants: [{ key: `${key}:2` }],
  };
  const report = (more: object) =>
    given(clinic.platform.put(`/calls/${call}`, { call: { ...first, ...more } }));
  // A report is refused if it contradicts what is known.
  const waitsOrHasLeft = async (participant: object) =>
    expect([200, 422]).toContain((await waits(waitingRoom.slug, key, participant)).status);
  await delivered([room.finished(90), room.left(key, 60, 5)]);
  await report({ ended_at: ENDED_AT });
  await report({});
  await waitsOrHasLeft({ waiting_since: WAITING_SINCE });
  await waitsOrHasLeft({ waiting_since: WAITING_SINCE, left_at: STARTED_AT });
  await delivered([room.joined(key, 5), room.joined(key, 5), room.finished(90)]);
  const { status, call_ids } = await readVisit(clinic, visit);
  expect([status, call_ids.length]).toEqual(["started", 2]);
  expect(await visitEvents(clinic)).toMatchObject([{ type: "visit.created" }, { type: "visit.started" }]);
  const { calls } = await given(clinic.client.get("/calls"));
  for (const { id, organization_user_id } of calls) {
    const path = `/organization_users/${organization_user_id}/calls/${id}`;
    expect(await given(clinic.client.get(path))).toMatchObject({ visit_id: visit.id });
    expect((await given(clinic.client.get(`${path}/participants`))).participants).toMatchObject([RITA]);
  }
  await letPass(visit);
  await clinic.runCron();
  await clinic.runCron();
  expect((await readVisit(clinic, visit)).status).toBe("ended");
});

describe("A visit, over time,", () => {
  it("is missed if nobody came, and started if somebody comes later", async () => {
    const { clinic, visit, runCron, status, call } = await aVisitToday();
    travelTo(fromNow(29));
    await runCron();
    expect(await status()).toBe("planned");
    travelTo(fromNow(2));
    await runCron();
    await runCron();
    expect(await status()).toBe("missed");
    expectRefusal(await cancel(clinic, visit), 422, /The visit is missed/);
    const { id, report } = await call();
    expect(await status()).toBe("started");
    await runCron();
    expect(await status()).toBe("started");
    await given(report({ ended_at: fromNow(1) }));
    await runCron();
    expect(await status()).toBe("ended");
    await call({ participants: [{ key: `2nd:${keyOf(visit)}` }] });
    expect(await status()).toBe("ended");
    const visit_id = visit.id;
    expect(await visitEvents(clinic)).toEqual([
      { type: "visit.created", visit_id },
      { type: "visit.missed", visit_id },
      { type: "visit.started", visit_id, call_id: id },
      { type: "visit.ended", visit_id },
    ]);
  });

  it("is counted once by GET /visit_metrics, with its current status, on its start date", async () => {
    const clinic = await anOrganization();
    const [room, provider] = [await clinic.addRoom(), await clinic.addProvider()];
    const on = (date: string, more: object = {}) =>
      planVisit(clinic, room.slug, { starts_at: `${date}T23:30:00Z`, ...more });
    const held = await on(dateAhead(-1), { organization_user_id: provider.id });
    await aCall(clinic, { participants: [{ key: keyOf(held) }] });
    await given(cancel(clinic, await on(dateAhead())));
    const moved = await on(dateAhead(-2));
    const times = { starts_at: timeAhead("09:30:00"), ends_at: timeAhead("10:30:00") };
    await given(clinic.client.put(`/visits/${moved.id}`, { visit: times }));
    const metrics = (query = "") =>
      given(clinic.client.get(`/visit_metrics?date_start=${dateAhead(-3)}&date_end=${dateAhead(1)}${query}`));
    expect(await metrics()).toEqual({
      planned: { [dateAhead(-1)]: 0, [dateAhead()]: 1 },
      held: { [dateAhead(-1)]: 1, [dateAhead()]: 0 },
      missed: { [dateAhead(-1)]: 0, [dateAhead()]: 0 },
      cancelled: { [dateAhead(-1)]: 0, [dateAhead()]: 1 },
    });
    expect((await metrics(`&user_id=${provider.user_id}`)).held).toEqual({ [dateAhead(-1)]: 1 });
  });

  it("can be changed until it is over, and gets no reference once that was erased", async () => {
    const { clinic, path, runCron, status, call } = await aVisitToday();
    const change = (fields: object) => clinic.client.put(path, { visit: fields });
    const ongoing = await call();
    await given(change({ ends_at: fromNow(40), external_reference: "moved" }));
    expect(await status()).toBe("started");
    travelTo(fromNow(41));
    await runCron();
    expect(await status()).toBe("started");
    await given(ongoing.report({ ended_at: fromNow(0) }));
    await runCron();
    expectRefusal(await change({ external_reference: "late" }), 422, /The visit is ended/);
    expectRefusal(await clinic.client.delete(path), 422, /The visit is ended/);

    const late = await aVisitToday();
    await given(late.clinic.client.put("/organization", { organization: { participant_retention_days: 1 } }));
    travelTo(fromNow(40 + MINUTES_OF_DAY));
    await late.runCron();
    expectRefusal(await late.clinic.client.put(late.path, { visit: {} }), 422, /The visit is missed/);
    await late.runCron();
    await late.call();
    expect(await late.status()).toBe("started");
    const named = { visit: { external_reference: "again", participants: [RITA] } };
    expectRefusal(await late.clinic.client.put(late.path, named), 422, /external_reference: was erased/);
  });

  it("loses its names and references after participant_retention_days", async () => {
    const clinic = await aClinicWithQueue();
    const { slug } = await clinic.addRoom();
    const plan = { participants: [RITA], external_reference: "visit-1", starts_at: fromNow(10) };
    const [missed, cancelled, held] = await atOnce(3, () => planVisit(clinic, slug, plan));
    await given(cancel(clinic, cancelled as Visit));
    const farAhead = { ...plan, starts_at: fromNow(300 * MINUTES_OF_DAY) };
    const [cancelledAhead, heldAhead] = await atOnce(2, () => planVisit(clinic, slug, farAhead));
    await given(cancel(clinic, cancelledAhead as Visit));
    const early = await aCall(clinic, { participants: [{ key: keyOf(heldAhead as Visit) }] });
    await given(early.report({ ended_at: fromNow(0) }));
    const call = await aCall(clinic, { participants: [{ key: keyOf(held as Visit) }] });
    await given(call.hold());
    await given(clinic.client.put("/organization", { organization: { participant_retention_days: 1 } }));
    travelTo(fromNow(70 + MINUTES_OF_DAY + 1));
    await clinic.runCron();
    await clinic.runCron();
    const events = await visitEvents(clinic);
    const shown = (visit?: Visit) => readVisit(clinic, visit as Visit);
    const nobody = { ...RITA, display_name: "Participant", external_reference: null };
    const erased = { external_reference: null, participants: [nobody] };
    for (const visit of [missed, cancelled, cancelledAhead]) expect(await shown(visit)).toMatchObject(erased);
    for (const visit of [held, heldAhead])
      expect(await shown(visit)).toMatchObject({ external_reference: "visit-1", participants: [RITA] });
    // Two were cancelled, and three erased.
    expect(await entriesAbout(clinic, "delete", "visit")).toHaveLength(5);
    await given(call.release());
    await clinic.runCron();
    expect(await shown(held)).toMatchObject(erased);
    expect(await visitEvents(clinic)).toEqual(events);
    const path = `/access_logs?resource=visit&external_reference=${RITA.external_reference}`;
    const found: { resource_id: number }[] = (await given(clinic.client.get(path))).access_logs;
    const visits = [missed, cancelled, held, cancelledAhead, heldAhead];
    expect(new Set(found.map(({ resource_id }) => resource_id))).toEqual(
      new Set(visits.map((each) => each?.id)),
    );
  });
});
