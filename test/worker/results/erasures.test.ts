import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished } from "vitest";
import { ERASED_PORTION, ERASURES_COUNTED } from "../../../src/limits.ts";
import { entriesAbout } from "../support/access_logs.ts";
import { theWorker } from "../support/api.ts";
import {
  aCall,
  aProviderOnTheCall,
  aRecipient,
  ENDED_AT,
  reportEgress,
  STARTED_AT,
  WAITING_SINCE,
} from "../support/calls.ts";
import { digestOf, rowsOf, storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { ALL, aDocumentedCall, NOTHING as GONE } from "../support/retention.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { aBucket, fileExists, storeFile } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, changingOnlyTheLog, leavingNoRows } from "../support/unchanged.ts";
import { keyOf, planVisit, readVisit, redeem, tokenOfLink } from "../support/visits.ts";
import { throughWorkerWith } from "../support/worker.ts";

const NOTHING = { erased_count: 0, held_count: 0, ongoing_count: 0, remaining_count: 0 };

const pathOf = (reference: string, texts?: boolean) =>
  `/participants?external_reference=${reference}${texts === undefined ? "" : `&texts=${texts}`}`;

const erase = (
  { client }: Pick<Organization, "client">,
  reference: string,
  texts?: boolean,
  fetcher = theWorker,
) => client.through(fetcher).delete(pathOf(reference, texts));

/** A call with a provider and a patient. */
async function callOf(clinic: Organization, external_reference: string, call: object = {}) {
  const participants = [aProviderOnTheCall(), aRecipient({ external_reference })] as const;
  return { ...(await aCall(clinic, { participants, ...call })), participants };
}

async function aPatient() {
  const clinic = await anOrganization();
  const reference = unique("patient");
  return { clinic, reference, call: await callOf(clinic, reference) };
}

const participantsOf = async ({ client }: Organization, { path }: { path: string }) =>
  (await given(client.get(`${path}/participants`))).participants;

const entriesFor = async ({ client }: Organization, reference: string, filter = "") =>
  (await given(client.get(`/access_logs?per_page=100&external_reference=${reference}${filter}`))).access_logs;

const waits = (clinic: Organization, slug: string, external_reference: string, more: object = {}) =>
  clinic.addParticipant(slug, { external_reference, waiting_since: WAITING_SINCE, ...more });

/** Everything that an organization stores, as text. */
const storedText = async ({ id }: Organization) => JSON.stringify(await rowsOf(id));

describe("DELETE /participants", () => {
  it("erases the person from all their calls, with the calls' references, and leaves everybody else", async () => {
    const { clinic, reference, call } = await aPatient();
    const second = await callOf(clinic, reference, { external_reference: "visit-of-rita" });
    const other = await callOf(clinic, `${reference}-2`);
    const before = await participantsOf(clinic, second);
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 2 });
    const [paula, rita] = before;
    expect(await participantsOf(clinic, second)).toEqual([
      paula,
      { ...rita, display_name: "Participant", external_reference: null },
    ]);
    expect((await given(clinic.client.get(second.path))).external_reference).toBeNull();
    expect(await participantsOf(clinic, other)).toMatchObject([{}, { external_reference: `${reference}-2` }]);
    const stored = (await storedText(clinic)).replaceAll(`${reference}-2`, "");
    const keys = [call, second].map(({ participants }) => participants[1].key);
    for (const personal of [reference, "visit-of-rita", ...keys]) expect(stored).not.toContain(personal);
    expect(stored).toContain(call.participants[0].key);
  });

  it("leaves a call that has not ended, even under legal hold, until it has", async () => {
    const clinic = await anOrganization();
    const reference = unique("patient");
    const calls = [
      await callOf(clinic, reference, { ended_at: null }),
      await callOf(clinic, reference, { ended_at: null, legal_hold: true }),
    ];
    const ongoing = { ...NOTHING, ongoing_count: 2 };
    expect(await given(changingOnlyTheLog(() => erase(clinic, reference, true)))).toEqual(ongoing);
    expect((await entriesFor(clinic, reference)).at(-1)).toMatchObject({ event: "search", call_id: null });
    for (const call of calls) await given(call.report({ ended_at: ENDED_AT }));
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1, held_count: 1 });
  });

  it("counts calls under legal hold and leaves them, with their results, until the hold has ended", async () => {
    const { clinic, reference, call } = await aPatient();
    await given(call.reportSoapNote({ text: "Well.", is_final: true }));
    const held = { ...NOTHING, held_count: 1 };
    const own = `${call.path}/legal_hold`;
    for (const [hold, release] of [
      [call.hold, call.release],
      [() => clinic.client.put(own, { legal_hold: {} }), () => clinic.client.delete(own)],
    ] as const) {
      await given(hold());
      expect(await given(changingOnlyTheLog(() => erase(clinic, reference, true)))).toEqual(held);
      expect((await entriesFor(clinic, reference)).at(-1)).toMatchObject({ event: "search" });
      await given(release());
    }
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1 });
    expect((await clinic.client.get(`${call.path}/soap_note`)).status).toBe(200);
  });

  it("changes nothing for a reference that nobody has, or that was erased before", async () => {
    const { clinic, reference } = await aPatient();
    await given(erase(clinic, reference));
    for (const nobody of [reference, "nobody", reference.toUpperCase()])
      expect(await given(changingOnlyTheLog(() => erase(clinic, nobody, true)))).toEqual(NOTHING);
    expect(await entriesAbout(clinic, "search", "participant")).toHaveLength(3);
    expect(await entriesFor(clinic, "nobody")).toMatchObject([{ event: "search", resource_id: null }]);
  });
});

describe("The access log, after DELETE /participants,", () => {
  it("finds by the reference what was read and erased, and who asked for it, but contains no reference", async () => {
    const { clinic, reference, call } = await aPatient();
    const [paula, rita] = await participantsOf(clinic, call);
    const answer = await clinic.client.send("DELETE", pathOf(reference), undefined, {
      "X-Acting-User": "privacy-officer-3",
      "X-Purpose-Of-Use": "PATRQT",
    });
    await given(Promise.resolve(answer));
    const of = { resource: "participant", call_id: call.id, organization_user_id: call.owner.id };
    const entries = await entriesFor(clinic, reference);
    expect(entries).toMatchObject([
      { ...of, event: "read" },
      {
        ...of,
        event: "delete",
        resource_id: rita.id,
        user_id: clinic.admin.user_id,
        api_client_id: clinic.client.id,
        acting_user: "privacy-officer-3",
        purpose: "PATRQT",
        request_id: answer.headers.get("X-Request-Id"),
      },
    ]);
    expect(entries.map(({ resource_id }: { resource_id: number }) => resource_id)).not.toContain(paula.id);
    expect(JSON.stringify(await storedRows(clinic, "access_logs"))).not.toContain(reference);
    expect(await entriesFor(clinic, `${reference}-2`)).toEqual([]);
  });

  it("also finds the erasure of a visit to a waiting room by retention", async () => {
    const clinic = await anOrganization();
    const reference = unique("patient");
    const { slug } = await clinic.addRoom();
    const { id } = await waits(clinic, slug, reference, { left_at: STARTED_AT });
    const keepFor = (days: number | null) =>
      env.DB.prepare("update organizations set participant_retention_days = ? where id = ?")
        .bind(days, clinic.id)
        .run();
    onTestFinished(async () => void (await keepFor(null)));
    await keepFor(1);
    await workerWith({}).runCron();
    expect(await entriesFor(clinic, reference)).toMatchObject([
      { event: "delete", resource: "participant", resource_id: id, api_client_id: null },
    ]);
  });
});

/** A patient with this many ended calls. */
async function aPatientOfMany(count: number) {
  const clinic = await anOrganization();
  const reference = unique("patient");
  const { owner, room } = await aCall(clinic, { participants: [] });
  leavingNoRows(clinic.id, "former_references", "participants", "people");
  await insertMany(
    count,
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at,
       external_reference, created_at, updated_at)
     select ?1, 'seen-' || n, ?2, ?3, n, n + 1, 'visit-' || n, n, n from counter`,
    clinic.id,
    owner.id,
    room.id,
  );
  await env.DB.prepare(
    `insert into recorded_participants (organization_id, key, waiting_room_id, call_id, display_name, role, external_reference,
       reference_digest, left_at, created_at, updated_at)
     select organization_id, key, waiting_room_id, id, 'Rita', 'recipient', ?2, ?3, ended_at, 1, 1
     from calls where organization_id = ?1 and key glob 'seen-*'`,
  )
    .bind(clinic.id, reference, await digestOf(reference))
    .run();
  return { clinic, reference };
}

describe("DELETE /participants of a person with many calls", () => {
  it("works in portions, each by one request", async () => {
    const { clinic, reference } = await aPatientOfMany(1000);
    for (
      let remaining_count = 1000 - ERASED_PORTION;
      remaining_count >= 0;
      remaining_count -= ERASED_PORTION
    ) {
      const portion = { ...NOTHING, erased_count: ERASED_PORTION, remaining_count };
      expect(await given(erase(clinic, reference))).toEqual(portion);
    }
    const entries = await entriesAbout(clinic, "delete", "participant");
    expect(entries).toHaveLength(1000);
    expect(new Set(entries.map(({ resource_id }) => resource_id)).size).toBe(1000);
    for (const { display_name, external_reference } of await storedRows(clinic, "people"))
      expect([display_name, external_reference]).toEqual(["Participant", null]);
    for (const { external_reference } of await storedRows(clinic, "calls"))
      expect(external_reference).toBeNull();
  });

  it("reads as many rows of 6,000 calls as of 2,000, and counts the first ones", async () => {
    const costs = [];
    for (const count of [2000, 6000]) {
      const { clinic, reference } = await aPatientOfMany(count);
      const counting = countingRows();
      await given(clinic.client.through(counting.fetcher).get("/waiting_rooms"));
      const { result, rows_read } = await counting.during(() =>
        given(erase(clinic, reference, false, counting.fetcher)),
      );
      const counts = { erased_count: ERASED_PORTION, remaining_count: ERASURES_COUNTED };
      expect(result).toEqual({ ...NOTHING, ...counts });
      costs.push(rows_read);
    }
    expect(Math.abs(Number(costs[1]) - Number(costs[0]))).toBeLessThan(20);
  });

  it("does not get stuck at calls under legal hold", async () => {
    const { clinic, reference } = await aPatientOfMany(2 * ERASED_PORTION + 1);
    await env.DB.prepare(
      `insert into legal_holds (organization_id, call_id, begun_by, began_at)
       select organization_id, id, 'organization', 1 from calls where organization_id = ?1 and key glob 'seen-*'
       order by started_at limit ?2`,
    )
      .bind(clinic.id, 2 * ERASED_PORTION)
      .run();
    const held_count = 2 * ERASED_PORTION;
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1, held_count });
  });

  it("leaves a call for which a legal hold begins while the request is carried out", async () => {
    const { clinic, reference, call } = await aPatient();
    let isArmed = false;
    const DB = observedDatabase({
      async query(run) {
        const found = await run();
        if (isArmed) {
          isArmed = false;
          await given(call.hold());
        }
        return found;
      },
    });
    const fetcher = throughWorkerWith({ DB });
    await given(clinic.client.through(fetcher).get("/waiting_rooms"));
    isArmed = true;
    expect(await given(erase(clinic, reference, true, fetcher))).toEqual({ ...NOTHING, held_count: 1 });
    expect(await participantsOf(clinic, call)).toMatchObject([{}, { external_reference: reference }]);
  });
});

/** A patient's call with a transcript, a SOAP note and a recording with a file. */
const documentedCallOf = (
  clinic: Organization,
  external_reference: string,
  call: object = {},
  egress: object = {},
) => {
  const participants = [aProviderOnTheCall(), aRecipient({ external_reference })];
  return aDocumentedCall(clinic, { participants, ...call }, egress);
};

async function aDocumentedPatient(egress: object = {}) {
  const clinic = await anOrganization();
  const reference = unique("patient");
  return { clinic, reference, call: await documentedCallOf(clinic, reference, {}, egress) };
}

describe("DELETE /participants with texts=true", () => {
  it("also deletes the results of the person's calls, and of no others", async () => {
    const { clinic, reference, call } = await aDocumentedPatient();
    const calls = [call, await documentedCallOf(clinic, reference)];
    const theirs = await documentedCallOf(clinic, unique("patient"));
    const held = await documentedCallOf(clinic, reference, { legal_hold: true });
    const erased = { ...NOTHING, erased_count: 2, held_count: 1 };
    expect(await given(erase(clinic, reference, true))).toEqual(erased);
    for (const call of calls) expect(await call.left()).toEqual(GONE);
    for (const call of [theirs, held]) expect(await call.left()).toEqual(ALL);
    for (const resource of ["transcript", "soap_note", "egress"]) {
      const entries = await entriesAbout(clinic, "delete", resource);
      expect(entries).toHaveLength(2);
      expect(new Set(entries.map(({ call_id }) => call_id))).toEqual(new Set(calls.map(({ id }) => id)));
      for (const { user_id, api_client_id } of entries)
        expect([user_id, api_client_id]).toEqual([clinic.admin.user_id, clinic.client.id]);
      const { events } = await given(clinic.client.get(`/events?type=${resource}.deleted`));
      expect(events).toHaveLength(2);
    }
    expect(await entriesFor(clinic, reference, "&event=delete")).toHaveLength(8);
    await given(held.release());
    expect(await given(erase(clinic, reference, true))).toEqual({ ...NOTHING, erased_count: 1 });
    expect(await held.left()).toEqual(GONE);
  });

  it("must come with the first request: without it, the results stay, and cannot be found afterwards", async () => {
    for (const texts of [undefined, false]) {
      const { clinic, reference, call } = await aDocumentedPatient();
      expect(await given(erase(clinic, reference, texts))).toEqual({ ...NOTHING, erased_count: 1 });
      expect(await given(changingOnlyTheLog(() => erase(clinic, reference, true)))).toEqual(NOTHING);
      expect(await call.left()).toEqual(ALL);
    }
  });

  it("keeps late reports from adding a transcript or a SOAP note, whether or not there was one", async () => {
    const { clinic, reference, call } = await aDocumentedPatient();
    const without = await callOf(clinic, reference);
    await given(erase(clinic, reference, true));
    for (const each of [call, without])
      for (const report of [
        () => each.reportTranscript({ is_final: true, lines: [] }),
        () => each.reportSoapNote({ text: "Well.", is_final: true }),
      ])
        expectRefusal(await changingNothing(report), 422, /was deleted: it cannot be reported again/);
  });

  it("also deletes a recording whose end is reported later, with the file that the report names", async () => {
    const ending = { status: "egress_ending", ended_at: null };
    const { clinic, reference, call } = await aDocumentedPatient(ending);
    await given(erase(clinic, reference, true));
    expect(await call.left()).toEqual(GONE);
    const storage_key = `${clinic.slug}/${unique("late")}.wav`;
    await storeFile(storage_key);
    const { egress_id } = call.reported;
    await given(reportEgress(clinic, egress_id, { status: "egress_ended", storage_key, ended_at: ENDED_AT }));
    expect(await call.left()).toEqual(GONE);
    await workerWith({}).runCron();
    expect(await fileExists(storage_key)).toBe(false);
  });

  it("leaves the files to the cron while the storage fails", async () => {
    const { clinic, reference, call } = await aDocumentedPatient();
    const bucket = aBucket(() => true);
    const { fetcher, runCron } = workerWith({ RECORDINGS: bucket.binding });
    expect(await given(erase(clinic, reference, true, fetcher))).toEqual({ ...NOTHING, erased_count: 1 });
    expect(await call.left()).toEqual({ ...GONE, recording: true });
    bucket.refuses = () => false;
    await runCron();
    expect(await call.left()).toEqual(GONE);
    expect(await entriesAbout(clinic, "delete", "egress")).toMatchObject([
      { resource_id: call.reported.id, api_client_id: clinic.client.id },
    ]);
  });
});

const named = (external_reference: string, display_name = "Rita Recipient") => ({
  role: "recipient",
  display_name,
  external_reference,
});

/** A person who can be named in the visits of a room. */
async function aPlannedPatient() {
  const clinic = await anOrganization();
  const [{ slug }, reference] = [await clinic.addRoom(), unique("patient")];
  const plan = (...participants: object[]) => planVisit(clinic, slug, { participants });
  return { clinic, slug, reference, plan };
}

const ERASED = { display_name: "Participant", external_reference: null };

describe("DELETE /participants of a person named in planned visits", () => {
  it("takes the person's name and reference and the visit's reference out of the visit, and leaves the rest", async () => {
    const { clinic, slug, reference, plan } = await aPlannedPatient();
    const other = unique("patient");
    const participants = [named(reference), named(other, "Ron Recipient")];
    // The clock stands still, and the version of the visit must change nevertheless.
    travelTo(fromNow(1));
    const before = await planVisit(clinic, slug, { external_reference: "appointment-7", participants });
    const theirs = await plan(named(other));
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1 });
    const after = await readVisit(clinic, before);
    const [rita, ron] = before.participants;
    expect(after).toEqual({
      ...before,
      external_reference: null,
      participants: [{ ...rita, ...ERASED }, ron],
      updated_at: expect.any(String),
    });
    expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(await readVisit(clinic, theirs)).toEqual(theirs);
    expect(await storedText(clinic)).not.toContain(reference);
    const { events } = await given(clinic.client.get("/events?type=visit.updated"));
    expect(events).toMatchObject([{ data: { visit_id: before.id } }]);
    expect(await entriesFor(clinic, reference)).toMatchObject([
      { event: "create", resource: "visit", resource_id: before.id },
      { event: "update", resource: "visit", resource_id: before.id, api_client_id: clinic.client.id },
      { event: "read", resource: "visit", resource_id: before.id },
    ]);
    expect((await given(redeem(tokenOfLink(before)))).participant).toMatchObject({
      display_name: "Participant",
    });
  });

  it("leaves a visit with a call under legal hold, even if the person was not on the call", async () => {
    const { clinic, slug, reference, plan } = await aPlannedPatient();
    const visit = await plan(named(reference), named(unique("patient"), "Ron Recipient"));
    const call = await aCall(clinic, { waiting_room_slug: slug, participants: [{ key: keyOf(visit, 1) }] });
    await given(call.hold());
    const held = { ...NOTHING, held_count: 1 };
    expect(await given(changingOnlyTheLog(() => erase(clinic, reference)))).toEqual(held);
    await given(call.release());
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1 });
    expect((await readVisit(clinic, visit)).participants).toMatchObject([
      ERASED,
      { display_name: "Ron Recipient" },
    ]);
  });

  it("erases them again if the visit names them again, and skips visits that no longer name them", async () => {
    const { clinic, reference, plan } = await aPlannedPatient();
    const [visit, left] = [await plan(named(reference)), await plan(named(reference))];
    await given(clinic.client.put(`/visits/${left.id}`, { visit: { participants: [named("other")] } }));
    const again = () =>
      clinic.client.put(`/visits/${visit.id}`, { visit: { participants: [named(reference)] } });
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1 });
    await given(again());
    expect(await given(erase(clinic, reference))).toEqual({ ...NOTHING, erased_count: 1 });
    expect((await readVisit(clinic, visit)).participants).toMatchObject([ERASED]);
    expect((await readVisit(clinic, left)).participants).toMatchObject([{ external_reference: "other" }]);
  });
});
