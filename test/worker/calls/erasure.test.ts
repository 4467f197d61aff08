import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { runCron } from "../../../src/cron.ts";
import { platform } from "../support/api.ts";
import { aCall, ENDED_AT, STARTED_AT, WAITING_SINCE } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { changingNothing } from "../support/unchanged.ts";

/** Turns erasure off, so that the cron erases nobody in other tests. */
afterEach(async () => {
  await env.DB.prepare("update organizations set participant_retention_days = null").run();
});

const eraseAll = () => workerWith({}).runCron();

async function aForgetfulOrganization(): Promise<Organization> {
  const clinic = await anOrganization();
  const organization = { participant_retention_days: 30 };
  await given(platform.put(`/organizations/${clinic.id}`, { organization }));
  return clinic;
}

const storedOf = async (organization: Organization) =>
  JSON.stringify([await storedRows(organization, "participants"), await storedRows(organization, "people")]);

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3600 * 1000).toISOString();

/** A database that runs `work` after each round trip, once the cron has selected the participants to erase. */
function afterLooking(work: () => Promise<unknown>): D1Database {
  let isFound = false;
  return observedDatabase({
    prepare: (text) => {
      isFound ||= text.includes("select") && text.includes("participant_retention_days");
    },
    async query(run) {
      const result = await run();
      if (isFound) await work();
      return result;
    },
  });
}

describe("The cron's erasure of participants", () => {
  it("removes names, keys and references, but keeps the participants on the call", async () => {
    const clinic = await aForgetfulOrganization();
    const call = await aCall(clinic);
    const { id } = await call.addEgress();
    const [paula, rita] = call.participants;
    await given(call.report({ participants: [{ key: rita.key, external_reference: "patient-4711" }] }));
    expect(await storedOf(clinic)).toContain("patient-4711");
    const line = { participant_key: paula.key, text: "Hello.", start_time: 0, end_time: 1 };
    await given(call.reportTranscript({ is_final: true, lines: [line] }));
    await eraseAll();
    const stored = await storedOf(clinic);
    expect(stored).not.toContain("patient-4711");
    for (const { key, display_name } of call.participants)
      for (const personal of [key, display_name]) expect(stored).not.toContain(personal);
    expect((await given(clinic.client.get(`${call.path}/transcript`))).transcript_lines).toMatchObject([
      { display_name: "Participant", text: "Hello." },
    ]);
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toMatchObject([{ id }]);
    const late = { started_at: STARTED_AT, ended_at: ENDED_AT, participants: call.participants };
    await changingNothing(() => given(call.report(late)));
  });

  it("erases a reference that is reported during the run too, and finds the person by it", async () => {
    const clinic = await aForgetfulOrganization();
    const call = await aCall(clinic);
    const [paula, rita] = (await given(clinic.client.get(`${call.path}/participants`))).participants;
    const [, { key }] = call.participants;
    const external_reference = unique("patient");
    const DB = afterLooking(() => given(call.report({ participants: [{ key, external_reference }] })));
    await workerWith({ DB }).runCron();
    expect(await storedOf(clinic)).not.toContain(external_reference);
    const erased = async (filter = "") =>
      (await given(clinic.client.get(`/access_logs?event=delete${filter}`))).access_logs.map(
        ({ resource_id }: { resource_id: number }) => resource_id,
      );
    expect(await erased()).toEqual([paula.id, rita.id]);
    expect(await erased(`&external_reference=${external_reference}`)).toContain(rita.id);
  });

  it("writes one access log entry per participant, even if two runs overlap", async () => {
    const clinic = await aForgetfulOrganization();
    await aCall(clinic);
    const at = Date.now();
    let hasMet = false;
    const DB = afterLooking(async () => {
      if (hasMet) return;
      hasMet = true;
      await runCron(env, at);
    });
    await runCron({ ...env, DB }, at);
    expect(hasMet).toBe(true);
    expect((await given(clinic.client.get("/access_logs?event=delete"))).access_logs).toHaveLength(2);
  });

  it("spares organizations that keep names, ongoing calls, and participants whose retention has not passed", async () => {
    const keeping = await anOrganization();
    await aCall(keeping);
    const [forgetful, busy] = [await aForgetfulOrganization(), await aForgetfulOrganization()];
    await aCall(forgetful, { started_at: daysAgo(29.1), ended_at: daysAgo(29) });
    const ongoing = await aCall(busy, { started_at: daysAgo(0.1), ended_at: null });
    const stay = { joined_at: daysAgo(99), left_at: daysAgo(98) };
    await given(ongoing.report({ participants: [{ key: ongoing.participants[1].key, ...stay }] }));
    await eraseAll();
    for (const clinic of [keeping, forgetful, busy])
      expect(await storedOf(clinic)).toContain("Rita Recipient");
  });

  it("spares a call under legal hold and its reference until the hold ends", async () => {
    const clinic = await aForgetfulOrganization();
    const call = await aCall(clinic, { external_reference: "rita-2026" });
    await given(call.hold());
    await eraseAll();
    expect(await storedOf(clinic)).toContain("Rita Recipient");
    expect(await referenceOf(call)).toBe("rita-2026");
    await given(call.release());
    await eraseAll();
    expect(await storedOf(clinic)).not.toContain("Rita Recipient");
    expect(await referenceOf(call)).toBeNull();
  });
});

const referenceOf = async ({ url }: { url: string }) => (await given(platform.get(url))).external_reference;

const waits = (room: { slug: string }, key: string, more: object = {}) =>
  platform.put(`/waiting_rooms/${room.slug}/participants/${key}`, {
    participant: { display_name: "Rita Recipient", role: "recipient", waiting_since: WAITING_SINCE, ...more },
  });

/** A participant who waited in a room and has been erased. */
async function somebodyErased() {
  const clinic = await aForgetfulOrganization();
  const key = unique("rita");
  await given(waits(await clinic.addRoom(), key, { left_at: WAITING_SINCE }));
  await eraseAll();
  expect(await storedOf(clinic)).not.toContain("Rita");
  return { clinic, key };
}

describe("A late report of an erased participant", () => {
  it("neither restores the call's reference nor sets one that the call never had", async () => {
    const clinic = await aForgetfulOrganization();
    for (const external_reference of ["rita-2026", undefined]) {
      const call = await aCall(clinic, { external_reference });
      await eraseAll();
      const answer = await changingNothing(() => given(call.report({ external_reference: "rita-2026" })));
      expect(answer.external_reference).toBeNull();
      await given(call.report({ external_reference: "rita-2026", failed: true }));
      expect(await referenceOf(call)).toBeNull();
    }
  });

  it("names its speakers, still refuses strangers, and still withdraws consent", async () => {
    const clinic = await aForgetfulOrganization();
    const call = await aCall(clinic);
    await call.addEgress();
    await eraseAll();
    const [paula, rita] = call.participants;
    const transcriptOf = (participant_key: string) => {
      const line = { participant_key, text: "Hello.", start_time: 0, end_time: 1 };
      return call.reportTranscript({ is_final: true, lines: [line] });
    };
    const transcript = await given(transcriptOf(paula.key));
    expect(transcript.transcript_lines).toMatchObject([{ display_name: "Participant" }]);
    expect((await transcriptOf(unique("stranger"))).status).toBe(422);
    await given(call.report({ participants: [{ key: rita.key, recording_consent: false }] }));
    expect((await given(clinic.client.get(`${call.path}/egresses`))).egresses).toEqual([]);
    expect(await storedOf(clinic)).not.toContain(rita.key);
  });
});

it("PUT …/calls/{key} counts a participant who was erased before the call was reported, so recordings need their consent, and drops the reference", async () => {
  const { clinic, key } = await somebodyErased();
  const external_reference = "rita-2026";
  const said = { display_name: "Rita Recipient", role: "recipient", external_reference };
  const rita = { key, ...said, waiting_since: WAITING_SINCE };
  const consents = { recording_consent: true };
  const paula = { key: unique("paula"), display_name: "Paula", role: "provider", ...consents };
  const participants = [{ ...rita, recording_consent: false }, paula];
  const call = await aCall(clinic, { external_reference, participants });
  await call.addEgress();
  const egresses = async () => (await given(clinic.client.get(`${call.path}/egresses`))).egresses;
  expect(await egresses()).toEqual([]);
  const { consents: decisions } = await given(clinic.client.get(`${call.path}/consents`));
  expect(decisions).toMatchObject([{ decision: "granted" }, { decision: "refused" }]);
  const again = () => given(call.report({ external_reference, participants: [rita] }));
  expect((await changingNothing(again)).external_reference).toBeNull();
  const recording_consent_at = new Date().toISOString();
  await given(call.report({ participants: [{ key, ...consents, recording_consent_at }] }));
  expect(await egresses()).toHaveLength(1);
  for (const personal of [key, external_reference]) expect(await storedOf(clinic)).not.toContain(personal);
});

describe("The cron's erasure of a call's reference", () => {
  it("also happens if nobody was on the call", async () => {
    const clinic = await aForgetfulOrganization();
    const unattended = { external_reference: "rita-2026", participants: [] };
    const call = await aCall(clinic, unattended);
    const recent = await aCall(clinic, {
      ...unattended,
      started_at: daysAgo(29.1),
      ended_at: daysAgo(29),
    });
    await eraseAll();
    expect(await referenceOf(call)).toBeNull();
    expect(await referenceOf(recent)).toBe("rita-2026");
    const answer = await changingNothing(() => given(call.report({ external_reference: "rita-2026" })));
    expect(answer.external_reference).toBeNull();
  });

  it("waits for the end of a legal hold, even if a participant was erased before the call was reported", async () => {
    const { clinic, key } = await somebodyErased();
    const rita = { key, display_name: "Rita", role: "recipient", waiting_since: WAITING_SINCE };
    const call = await aCall(clinic, {
      external_reference: "rita-2026",
      legal_hold: true,
      participants: [rita],
    });
    await eraseAll();
    expect(await referenceOf(call)).toBe("rita-2026");
    await given(call.release());
    await eraseAll();
    expect(await referenceOf(call)).toBeNull();
  });
});

it("A participant who returns after being erased is a new participant, who is erased in turn; late reports of either visit bring nothing back", async () => {
  const clinic = await aForgetfulOrganization();
  const room = await clinic.addRoom();
  const key = unique("rita");
  const visits = [{ left_at: STARTED_AT }, { waiting_since: daysAgo(40), left_at: daysAgo(39) }];
  for (const visit of visits) {
    await given(waits(room, key, visit));
    await eraseAll();
  }
  expect(await storedRows(clinic, "participants")).toHaveLength(2);
  expect(await storedOf(clinic)).not.toContain(key);
  for (const visit of visits) await changingNothing(() => given(waits(room, key, visit)));
  await given(waits(room, key, { waiting_since: daysAgo(1) }));
  expect(await given(platform.get(`/waiting_rooms/${room.slug}`))).toMatchObject({
    waiting_room: { waiting_count: 1 },
  });
  for (const visit of visits) await changingNothing(() => given(waits(room, key, visit)));
});
