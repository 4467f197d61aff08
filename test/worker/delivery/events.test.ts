import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { EVENT_TYPE_NAMES, EVENT_TYPES } from "../../../src/database/enums.ts";
import { type Api, platform } from "../support/api.ts";
import { atOnce } from "../support/at_once.ts";
import { aCall, aRecipient, ENDED_AT, STARTED_AT, WAITING_SINCE } from "../support/calls.ts";
import { rowsOf } from "../support/database.ts";
import { accept, keepingInvite, tokenOf } from "../support/invites.ts";
import { aMailProvider, aMailWorker } from "../support/mails.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { reportInRoom } from "../support/participant_events.ts";
import { aClinicWithQueue, type ClinicWithQueue as Clinic } from "../support/queue.ts";
import { aSealedDay } from "../support/seals.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { keyOf, letPass, planVisit } from "../support/visits.ts";

interface Event {
  id: number;
  type: string;
  created_at: string;
  data: object;
}

async function everyEvent(client: Pick<Api, "get">, query = ""): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = 0, shown = 1; shown > 0; ) {
    const page = await given(client.get(`/events?after=${after}${query}`));
    events.push(...page.events);
    after = page.next_after;
    shown = page.events.length;
  }
  return events;
}

/** The events that `work` causes, each as its type and its ids, such as "call.started 7 12". */
async function eventsOf({ client }: Pick<Organization, "client">, work: () => Promise<unknown>) {
  const before = await everyEvent(client);
  await work();
  const caused = (await everyEvent(client)).slice(before.length);
  return caused.map(({ type, data }) => [type, ...Object.values(data)].join(" "));
}

/** Without the events of personal rooms, which come and go with the role provider. */
const withoutRooms = (events: string[]) => events.filter((event) => !event.startsWith("waiting_room."));

const removeMember = (organization: { id: number }, { id }: { id: number }) =>
  given(platform.delete(`/organizations/${organization.id}/users/${id}`));
const deleteRecording = (organization: Pick<Organization, "platform">, egress_id: string) =>
  given(organization.platform.delete(`/egresses/${encodeURIComponent(egress_id)}`));

const aLine = ({ participants }: { participants: readonly { key: string }[] }, text = "Good morning.") => ({
  participant_key: participants[0]?.key,
  text,
  start_time: 0,
  end_time: 1,
});

describe("Events of a call", () => {
  it("are one call.started and one call.ended, and call.updated whenever a reported field changes", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null, participants: [] });
    const begun = { organization_user_id: call.owner.id, call_id: call.id };
    expect((await everyEvent(clinic.client)).at(-1)).toMatchObject({ type: "call.started", data: begun });
    const colleague = await clinic.addProvider();
    const updated = (owner = colleague) => `call.updated ${owner.id} ${call.id}`;
    const ended = `call.ended ${colleague.id} ${call.id}`;
    for (const [report, ...expected] of [
      [{ failed: false }],
      [{ started_at: "2026-01-31T09:29:00Z", legal_hold: true }],
      [{ organization_user_id: colleague.id }, updated()],
      [{ organization_user_id: colleague.id }],
      [{ failed: true }, updated()],
      [{ failed: true }],
      [{ external_reference: "visit-1" }, updated()],
      [{ external_reference: "visit-1" }],
      [{ external_reference: null }, updated()],
      [{ failed: false, ended_at: ENDED_AT }, updated(), ended],
      [{ ended_at: ENDED_AT }],
      [{ failed: false, ended_at: null }],
      [{ ended_at: "2026-01-31T11:00:00Z" }, updated()],
      [{ ended_at: ENDED_AT, organization_user_id: call.owner.id, failed: true }, updated(call.owner)],
    ])
      expect([report, await eventsOf(clinic, () => given(call.report(report as object)))]).toEqual([
        report,
        expected,
      ]);
  });

  it("include call.updated when the organization sets a reference, but not when that is erased", async () => {
    const clinic = await aClinicWithQueue();
    const call = await aCall(clinic);
    const set = () => given(clinic.client.put(call.path, { call: { external_reference: "visit-2" } }));
    const happened = await eventsOf(clinic, async () => [await set(), await set()]);
    expect(happened).toEqual([`call.updated ${call.owner.id} ${call.id}`]);
    await given(clinic.platform.put("", { organization: { participant_retention_days: 1 } }));
    expect(await eventsOf(clinic, () => clinic.runCron())).toEqual([]);
    expect(await given(clinic.client.get(call.path))).toMatchObject({ external_reference: null });
  });
});

describe("transcript.finalized and soap_note.finalized", () => {
  it("come once for the final text of an ended call, and not for a draft or after its deletion", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const lines = [aLine(call)];
    const ids = `${call.owner.id} ${call.id}`;
    const happened = await eventsOf(clinic, async () => {
      await given(call.reportTranscript({ is_final: false, lines }));
      await given(call.reportSoapNote({ text: "Subjective: well.", is_final: false }));
      await given(call.reportTranscript({ is_final: true }));
      await given(call.reportTranscript({ is_final: true, lines }));
      await given(call.reportTranscript({ summary: "A greeting." }));
      await given(call.reportSoapNote({ is_final: true }));
      await given(call.reportSoapNote({ is_final: true }));
    });
    expect(happened).toEqual([`transcript.finalized ${ids}`, `soap_note.finalized ${ids}`]);
    const removed = await eventsOf(clinic, async () => {
      await given(platform.delete(`${call.url}/transcript`));
      await call.reportTranscript({ is_final: true, lines });
    });
    expect(removed).toEqual([`transcript.deleted ${ids}`]);
  });

  it("come after call.ended if the text was final before the end", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    const ids = `${call.owner.id} ${call.id}`;
    const before = await eventsOf(clinic, async () => {
      await given(call.reportTranscript({ is_final: false, lines: [aLine(call)] }));
      await given(call.reportTranscript({ is_final: true }));
      await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    });
    expect(before).toEqual([]);
    const after = await eventsOf(clinic, async () => {
      await given(call.report({ ended_at: ENDED_AT }));
      await given(call.report({ failed: true }));
      await given(call.reportTranscript({ is_final: true, lines: [aLine(call)] }));
    });
    const types = ["call.ended", "transcript.finalized", "soap_note.finalized", "call.updated"];
    expect(after.filter((event) => !event.startsWith("participant."))).toEqual(
      types.map((type) => `${type} ${ids}`),
    );
  });
});

describe("Events of a recording", () => {
  it("are one egress.started, egress.ended and egress.deleted, in order even if the first report comes after the end", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    const egress_id = unique("egress");
    const report = (egress: object) => call.addEgress(egress, egress_id);
    let egress: { id: number } = { id: 0 };
    const happened = await eventsOf(clinic, async () => {
      await report({ status: "egress_starting", is_stopped: false, ended_at: null });
      await report({ status: "egress_active", is_stopped: false, ended_at: null });
      await report({});
      await report({});
      egress = await report({ error: "Out of disk" });
      await report({ status: "egress_active" });
      await deleteRecording(clinic, egress_id);
      await deleteRecording(clinic, egress_id);
    });
    const ids = `${call.owner.id} ${call.id} ${egress.id}`;
    expect(happened).toEqual(["started", "ended", "deleted"].map((what) => `egress.${what} ${ids}`));
    const whole = await eventsOf(clinic, async () => (await aCall(clinic, {}, call.owner)).addEgress());
    const types = whole
      .map((event) => event.split(" ")[0])
      .filter((type) => /^(call|egress)/.test(type ?? ""));
    expect(types).toEqual(["call.started", "call.ended", "egress.started", "egress.ended"]);
  });
});

it("An invite has one invite.created, none for its removal, and invite.accepted after organization_user.added or updated", async () => {
  const clinic = await anOrganization();
  let invite = { id: 0, organization_id: clinic.id };
  const happened = await eventsOf(clinic, async () => {
    invite = await clinic.addInvite();
    await given(clinic.client.delete(`/invites/${invite.id}`));
  });
  expect(happened).toEqual([`invite.created ${invite.id}`]);
  invite = await clinic.addInvite();
  const token = await tokenOf(invite);
  let user: { id: number } = { id: 0 };
  const accepted = await eventsOf(clinic, async () => {
    user = await given(platform.post("/invites/accept", { token }));
    await platform.post("/invites/accept", { token });
  });
  expect(withoutRooms(accepted)).toEqual([
    `organization_user.added ${user.id}`,
    `invite.accepted ${invite.id}`,
  ]);
  const email = `${unique("user")}@example.com`;
  const again = await clinic.addInvite({ email });
  const ann = await keepingInvite(again, () =>
    clinic.addUser("Ann Assistant", ["provider_assistant"], { email }),
  );
  expect(withoutRooms(await eventsOf(clinic, () => given(accept(again))))).toEqual([
    `organization_user.updated ${ann.id}`,
    `invite.accepted ${again.id}`,
  ]);
});

it("waiting_room_sub.changed comes when a sub is created, changed or deleted, or loses its member, and not when it stays the same", async () => {
  const clinic = await anOrganization();
  const provider = await clinic.addProvider();
  const { user_id } = provider;
  const room = await clinic.addRoom();
  const times = { datetime_start: "2126-01-31T09:30:00Z", datetime_end: "2126-01-31T10:30:00Z" };
  const sub = await clinic.addSub(room.slug, { user_id, ...times });
  const path = `/waiting_rooms/${room.slug}/waiting_room_subs/${sub.id}`;
  const update = (waiting_room_sub: object) => given(clinic.client.put(path, { waiting_room_sub }));
  const event = `waiting_room_sub.changed ${room.id} ${sub.id}`;
  expect((await everyEvent(clinic.client)).at(-1)).toMatchObject({ type: "waiting_room_sub.changed" });
  for (const same of [{}, { user_id, ...times }])
    expect(await eventsOf(clinic, () => update(same))).toEqual([]);
  for (const change of [
    { user_id: null },
    { user_id },
    { datetime_start: "2126-01-31T09:00:00Z" },
    { datetime_end: "2126-01-31T11:00:00Z" },
  ])
    expect(await eventsOf(clinic, () => update(change))).toEqual([event]);
  const lost = withoutRooms(await eventsOf(clinic, () => removeMember(clinic, provider)));
  expect(lost.sort()).toEqual([`organization_user.removed ${provider.id}`, event]);
  await env.DB.prepare("update waiting_room_subs set updated_at = 5 where id = ?").bind(sub.id).run();
  expect(await eventsOf(clinic, () => given(clinic.client.delete(path)))).toEqual([event]);
  // Its time is that of the deletion, not of the sub's last change.
  const deleted = (await everyEvent(clinic.client)).at(-1);
  expect(Math.abs(Date.parse(deleted?.created_at ?? "") - Date.now())).toBeLessThan(10_000);
  expect(await eventsOf(clinic, () => clinic.client.delete(path))).toEqual([]);
});

describe("Events of what an organization or the platform sets up", () => {
  it("are one organization_user event for each change of a member, and one of the personal room that comes and goes", async () => {
    const clinic = await anOrganization();
    const [paula, petra] = [await clinic.addProvider(), await clinic.addProvider("Petra Provider")];
    const email = `${unique("user")}@example.com`;
    let ann = { id: 0 };
    const create = async (more: object = {}) => {
      ann = await clinic.addUser("Ann Assistant", ["provider_assistant"], { email, ...more });
    };
    const path = () => `/organizations/${clinic.id}/users/${ann.id}`;
    const update = (user: object) => () => given(platform.put(path(), { user }));
    const during = async (work: () => Promise<unknown>) => (await eventsOf(clinic, work)).sort();
    const event = (what: string) => `organization_user.${what} ${ann.id}`;
    expect(await during(() => create({ assists: [paula.id] }))).toEqual([event("added")]);
    for (const change of [
      { display_name: "Anna" },
      { assists: [paula.id, petra.id] },
      { assists: [], display_name: "Anna Assistant" },
      { assists: [petra.id, paula.id], roles: ["provider_assistant", "organization_admin"] },
      { roles: ["organization_admin"] },
      { assists: [petra.id], roles: ["provider_assistant"] },
    ])
      expect(await during(update(change))).toEqual([event("updated")]);
    for (const same of [{}, { display_name: "Anna Assistant" }, { assists: [petra.id, petra.id] }])
      expect(await during(update(same))).toEqual([]);
    const removals = () => atOnce(3, () => platform.delete(path()));
    expect(await during(removals)).toEqual([event("removed")]);
    expect(await during(() => create({ returning_user_id: ann.id }))).toEqual([event("added")]);
    const created = await during(update({ roles: ["provider"] }));
    const { waiting_rooms } = await given(clinic.client.get(`/waiting_rooms?user_id=${ann.id}`));
    const room = (what: string) => `waiting_room.${what} ${waiting_rooms[0].id}`;
    expect(created).toEqual([event("updated"), room("created")]);
    for (const [roles, ...changes] of [
      [["provider", "organization_admin"]],
      [["organization_admin"], room("retired")],
      [["provider"], room("created")],
    ])
      expect(await during(update({ roles }))).toEqual([event("updated"), ...changes]);
    expect(await during(removals)).toEqual([event("removed"), room("retired")]);
    const invite = await clinic.addInvite({ email, returning_user_id: ann.id });
    const token = await tokenOf(invite);
    const accepted = () => atOnce(2, () => platform.post("/invites/accept", { token }));
    const returned = [`invite.accepted ${invite.id}`, event("added"), room("created")];
    expect(await during(accepted)).toEqual(returned);
    await given(update({ roles: ["provider_assistant"], assists: [petra.id] })());
    expect(await during(() => removeMember(clinic, petra))).toContain(event("updated"));
  });

  it("are one waiting_room event for each creation, change and retirement of a room, and none for an unchanged one", async () => {
    const clinic = await anOrganization();
    let room = { id: 0, slug: "" };
    const event = (what: string) => `waiting_room.${what} ${room.id}`;
    const during = (work: () => Promise<unknown>) => eventsOf(clinic, work);
    const update = async (waiting_room: object) => {
      room = await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room }));
    };
    const create = async () => {
      room = await clinic.addRoom();
    };
    expect(await during(create)).toEqual([event("created")]);
    for (const change of [
      { name: "Oncology" },
      { name: "oncology" },
      { theme: "calm" },
      { is_active: false },
    ]) {
      expect(await during(() => update(change))).toEqual([event("updated")]);
      expect(await during(() => update(change))).toEqual([]);
    }
    expect(await during(() => update({}))).toEqual([]);
    // Participants who come and go do not change a room.
    await update({ is_active: true });
    const visited = await during(async () => {
      const { key } = await clinic.addParticipant(room.slug);
      await given(reportInRoom(room.slug, key, { left_at: fromNow(1) }));
    });
    expect(withoutRooms(visited)).toEqual(visited);
    const retire = () => clinic.client.delete(`/waiting_rooms/${room.slug}`);
    expect(await during(() => atOnce(2, retire))).toEqual([event("retired")]);
  });

  it("are one api_client event for each creation and revocation, also when the membership of its user ends", async () => {
    const clinic = await anOrganization();
    const ann = await clinic.addUser("Ann Assistant", ["provider_assistant"]);
    const clients: { id: number }[] = [];
    const event = (what: string, n: number) => `api_client.${what} ${clients[n]?.id}`;
    const created = await eventsOf(clinic, async () => {
      for (let n = 0; n < 2; n++) clients.push(await clinic.addClient(ann.id));
    });
    expect(created).toEqual([event("created", 0), event("created", 1)]);
    const revoke = () => clinic.client.delete(`/api_clients/${clients[0]?.id}`);
    expect(await eventsOf(clinic, () => atOnce(2, revoke))).toEqual([event("revoked", 0)]);
    const removed = await eventsOf(clinic, () => removeMember(clinic, ann));
    expect(removed.sort()).toEqual([event("revoked", 1), `organization_user.removed ${ann.id}`]);
  });

  it("are one organization.updated for each change by the platform or the organization, and none for no change", async () => {
    const clinic = await anOrganization();
    const writers = [
      (organization: object) => clinic.platform.put("", { organization }),
      (organization: object) => clinic.client.put("/organization", { organization }),
    ];
    for (const [n, write] of writers.entries())
      for (const change of [
        { name: `Clinic ${n}` },
        { recording_retention_days: 30 + n },
        { transcript_retention_days: 40 + n },
        { participant_retention_days: 50 + n },
        { require_acting_user: n === 0 },
        { time_zone: ["Asia/Kathmandu", "Europe/Berlin"][n] },
        { patient_identifier_system: `urn:oid:2.999.${n}` },
        { name: `Renamed ${n}`, recording_retention_days: null },
      ]) {
        expect(await eventsOf(clinic, () => given(write(change)))).toEqual(["organization.updated"]);
        expect(await eventsOf(clinic, () => given(write(change)))).toEqual([]);
      }
    for (const write of writers) expect(await eventsOf(clinic, () => given(write({})))).toEqual([]);
  });
});

/** A clinic with events of every type. Its texts occur nowhere else, so that a test can search the events for them. */
async function aStory() {
  const clinic = await aClinicWithQueue();
  const [provider_name, recipient_name, room_name] = ["Zenobia", "Wendelin", "Xylophone lane"];
  const [provider_email, invitee_email] = ["zenobia@clinic.example", "wendelin@clinic.example"];
  const email = (address: string) => `${unique("q")}-${address}`;
  const provider = await clinic.addProvider(provider_name, { email: email(provider_email) });
  const substitute = await clinic.addProvider();
  const renamed = { organization_user: { display_name: `${provider_name} Z.` } };
  await given(clinic.client.put(`/organization_users/${substitute.id}`, renamed));
  const room = await clinic.addRoom({ name: room_name });
  const retired = await clinic.addRoom({ name: room_name });
  await given(clinic.client.put(`/waiting_rooms/${room.slug}`, { waiting_room: { theme: "calm" } }));
  await given(clinic.client.delete(`/waiting_rooms/${retired.slug}`));
  const { id: client_id } = await clinic.addClient(provider.id);
  await given(clinic.client.delete(`/api_clients/${client_id}`));
  await given(clinic.client.put("/organization", { organization: { name: room_name } }));
  await clinic.addSub(room.slug, { user_id: substitute.user_id, datetime_start: "2126-01-31T09:30:00Z" });
  const times = { waiting_since: WAITING_SINCE, joined_at: STARTED_AT };
  const rita = aRecipient({ key: unique("Zenobia"), display_name: recipient_name, ...times });
  const call = await aCall(clinic, { participants: [rita], waiting_room_slug: room.slug }, provider);
  const said = [aLine({ participants: [rita] }, "A sore throat.")];
  await given(call.report({ failed: true }));
  await given(call.report({ participants: [{ key: rita.key, external_reference: provider_name }] }));
  await given(call.reportTranscript({ summary: "A cold.", is_final: true, lines: said }));
  await given(call.reportSoapNote({ text: "Plan: tea.", is_final: true }));
  const other = await aCall(clinic, { external_reference: `${room_name} 7` }, provider);
  const [{ key: regretting }] = other.participants;
  await given(other.reportTranscript({ summary: "A flu.", is_final: true, lines: [] }));
  await given(other.reportSoapNote({ text: "Plan: rest.", is_final: true }));
  const corrected = { reason: "Misheard", summary: "A cough.", text: "Plan: sleep." };
  for (const text of ["transcript", "soap_note"])
    await given(clinic.client.put(`${other.path}/${text}`, { [text]: corrected }));
  for (const text of ["transcript", "soap_note"]) await given(clinic.client.delete(`${other.path}/${text}`));
  await given(other.report({ participants: [{ key: regretting, recording_consent: false }] }));
  const egress_id = unique("egress");
  await call.addEgress({ error: "Disk full", storage_key: `${clinic.slug}/Zenobia/video.mp4` }, egress_id);
  await deleteRecording(clinic, egress_id);
  const invite = await clinic.addInvite({ email: email(invitee_email), display_name: recipient_name });
  await given(accept(invite));
  const mails = aMailWorker({ EMAIL: aMailProvider(() => "E_VALIDATION_ERROR").binding });
  const unmailed = anInvite({ email: email(invitee_email), display_name: recipient_name });
  await given(clinic.client.through(mails.fetcher).post("/invites", { organization_invite: unmailed }));
  await mails.deliver({ schema: "invite_mails/1" });
  const bulk = await clinic.bulkInvite([
    anInvite({ email: email(invitee_email), display_name: provider_name }),
  ]);
  await clinic.consume(bulk.messages);
  await removeMember(clinic, substitute);
  await everyVisit(clinic, room.slug, recipient_name);
  await aSealedDay(clinic);
  const texts = [provider_name, recipient_name, room_name, provider_email, invitee_email];
  return { ...clinic, texts: [...texts, "throat", "cold", "tea", "Disk", "video.mp4", "https:", "http:"] };
}

/** A visit that is held, one that is missed, and one that is cancelled. */
async function everyVisit(clinic: Clinic, slug: string, display_name = "Rita") {
  const plan = { participants: [{ role: "recipient", display_name }], external_reference: display_name };
  const held = await planVisit(clinic, slug, plan);
  await given(clinic.client.put(`/visits/${held.id}`, { visit: { external_reference: null } }));
  await aCall(clinic, { participants: [{ key: keyOf(held) }] });
  const missed = await planVisit(clinic, slug, plan);
  const { id } = await planVisit(clinic, slug, plan);
  await given(clinic.client.delete(`/visits/${id}`));
  for (const visit of [held, missed]) await letPass(visit);
  await clinic.runCron();
}

describe("The events of a whole story", () => {
  it("have all types, hold only ids, no name, email, text, slug or URL, and are listed by id, for all types, one and a family", async () => {
    const clinic = await aStory();
    const events = await everyEvent(clinic.client);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
    const sent = JSON.stringify(
      events.map(({ id, created_at, data }) => [id, created_at, data]),
    ).toLowerCase();
    for (const text of clinic.texts) expect(sent).not.toContain(text.toLowerCase());
    // Nor do they hold any text from the organization's rows.
    const rows = (await rowsOf(clinic.id))
      // The access log also holds ids, words of closed lists, and dates.
      .filter(
        ({ name }) => !["events", "access_logs", "access_log_seals", "organization_days"].includes(name),
      )
      .flatMap(({ rows }) => rows);
    const stored = rows.flatMap((row) => Object.values(row)).filter((value) => typeof value === "string");
    // An empty object, as rows store it, says nothing.
    const found = [...new Set(stored)].filter(
      (text) => !["", "{}"].includes(text) && sent.includes(text.toLowerCase()),
    );
    expect(stored.length).toBeGreaterThan(40);
    expect(found).toEqual([]);
    // The event of a sealed day has no id.
    for (const { data } of events.filter(({ type }) => type !== "access_log.sealed"))
      for (const [name, value] of Object.entries(data)) {
        expect(name).toMatch(/_id$/);
        expect(value).toEqual(expect.any(Number));
      }
    const { client } = clinic;
    const ids = events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    for (const per_page of [1, 3, 100])
      expect(await everyEvent(client, `&per_page=${per_page}`)).toEqual(events);
    const shown = await given(client.get(`/events?after=${ids[2]}&per_page=2`));
    expect(shown).toEqual({ events: events.slice(3, 5), next_after: ids[4] });
    for (const name of EVENT_TYPE_NAMES) {
      const expected = events.filter(({ type }) => type.startsWith(name.replace("*", "")));
      expect(expected.length).toBeGreaterThan(0);
      for (const per_page of [1, 100])
        expect(await everyEvent(client, `&type=${name}&per_page=${per_page}`)).toEqual(expected);
    }
  });

  it("carry the time of the change", async () => {
    travelTo("2026-03-01T12:00:00.000Z");
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null, participants: [] });
    travelTo("2026-03-02T12:00:00.000Z");
    await given(call.report({ ended_at: ENDED_AT }));
    const times = (await everyEvent(clinic.client)).map(({ type, created_at }) => `${type} ${created_at}`);
    expect(times.slice(-2)).toEqual([
      "call.started 2026-03-01T12:00:00.000Z",
      "call.ended 2026-03-02T12:00:00.000Z",
    ]);
  });
});

type Ids = Record<string, number>;

const callPath = ({ organization_user_id, call_id }: Ids) =>
  `/organization_users/${organization_user_id}/calls/${call_id}`;

/** For each id in events, the path of its resource, or of a list with it. `slug` is that of the event's room. */
const PATHS: Record<string, (ids: Ids, slug?: string) => string> = {
  organization_user_id: (ids) => `/organization_users/${ids.organization_user_id}`,
  call_id: (ids) => (ids.visit_id ? `/visits/${ids.visit_id}` : callPath(ids)),
  egress_id: (ids) => `${callPath(ids)}/egresses/${ids.egress_id}`,
  participant_id: (ids, slug) => `${ids.call_id ? callPath(ids) : `/waiting_rooms/${slug}`}/participants`,
  invite_id: (ids) => `/invites/${ids.invite_id}`,
  bulk_invite_id: (ids) => `/bulk_invites/${ids.bulk_invite_id}`,
  visit_id: (ids) => `/visits/${ids.visit_id}`,
  api_client_id: () => "/api_clients?per_page=100",
  waiting_room_id: (_, slug) => `/waiting_rooms/${slug}`,
  waiting_room_sub_id: (_, slug) => `/waiting_rooms/${slug}/waiting_room_subs`,
};

/** The ids of everything in a body. */
const idsIn = (body: unknown): unknown[] =>
  typeof body === "object" && body !== null
    ? Object.entries(body).flatMap(([name, value]) =>
        name === "id" ? [value] : name === "call_ids" ? value : idsIn(value),
      )
    : [];

it("The resources that an event names can be read with its ids", async () => {
  const { client } = await aStory();
  const events = await everyEvent(client);
  const slugOf = async ({ waiting_room_id: id }: Ids): Promise<string> =>
    id && (await given(client.get(`/waiting_rooms?id=${id}`))).waiting_rooms[0]?.slug;
  const read = new Set<string>();
  for (const { type, data } of events.filter((each) => each.type !== "access_log.sealed"))
    for (const [name, id] of Object.entries(data as Ids)) {
      const named = events.filter((each) => (each.data as Ids)[name] === id);
      if (name === "waiting_room_id" && named.some((each) => each.type === "waiting_room.retired")) continue;
      // A participant who waited may have joined a call, which a later event names.
      const ids = (name === "participant_id" ? named.at(-1)?.data : data) as Ids;
      const thing = `${name} ${JSON.stringify(ids)}`;
      if (read.has(thing)) continue;
      read.add(thing);
      const path = PATHS[name]?.(ids, await slugOf(ids)) ?? "";
      expect([type, path, idsIn(await given(client.get(path)))]).toEqual([
        type,
        path,
        expect.arrayContaining([id]),
      ]);
    }
});

it("GET /events returns next_after, even if there are no events", async () => {
  const { client } = await anOrganization();
  const { events, next_after } = await given(client.get("/events"));
  expect(events).toHaveLength(2);
  expect(next_after).toBe(events[1].id);
  expect(await given(client.get(`/events?after=${next_after}`))).toEqual({ events: [], next_after });
  expect(await given(client.get("/events?type=egress.deleted"))).toEqual({ events: [], next_after: 0 });
  expect(await given(client.get("/events?after=007&type=egress.deleted"))).toMatchObject({ next_after: 7 });
  const far = await given(client.get(`/events?after=${"9".repeat(400)}`));
  expect(far).toEqual({ events: [], next_after: Number.MAX_SAFE_INTEGER });
});

it("An event is kept for 30 days", async () => {
  const DAY = 24 * 60;
  const clinic = await aClinicWithQueue();
  await given(clinic.client.get("/events"));
  // By then, today's access log has been sealed, which is an event too.
  const ages = async () => (await everyEvent(clinic.client, "&type=organization_user.*")).map(({ id }) => id);
  const before = await ages();
  expect(before).toHaveLength(1);
  travelTo(fromNow(30 * DAY - 5));
  await clinic.runCron();
  expect(await ages()).toEqual(before);
  travelTo(fromNow(10));
  await clinic.runCron();
  expect(await ages()).toEqual([]);
});
