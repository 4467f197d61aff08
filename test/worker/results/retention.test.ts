import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { RECORDINGS_DELETED, TEXTS_DELETED } from "../../../src/tuning.ts";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aQueue, rowsReadForNothing, workerWith } from "../support/queue.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { aBucket, allFiles, fileExists, storeFile } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, changingNothingOf } from "../support/unchanged.ts";

/** Several runs are needed to delete this many calls, so that the last ones wait for their turn. */
const SIZE = 5 * RECORDINGS_DELETED;
const DAY = 24 * 60;

/** The local R2 takes a few milliseconds to create a file, so only some recordings have one. */
const EACH_WITH_A_FILE = 20;
const HELD = "The call is under legal hold: end the hold first";

/** The rows that a run may read, however many calls there are, including the entry for each deletion. */
const READ_IN_A_RUN = 120 * RECORDINGS_DELETED;

/** How many unneeded rows a run may read because of a test's rows, however many rows the test has. */
const READ_FOR_NOTHING = 60;

/** Lets the organizations of other tests keep everything. */
beforeEach(async () => {
  await env.DB.prepare(
    `update organizations set recording_retention_days = null, transcript_retention_days = null,
       participant_retention_days = null`,
  ).run();
});

const keep = (
  { id }: Organization,
  { recordings = null, transcripts = null }: { recordings?: number | null; transcripts?: number | null },
) =>
  env.DB.prepare(
    "update organizations set recording_retention_days = ?, transcript_retention_days = ? where id = ?",
  )
    .bind(recordings, transcripts, id)
    .run();

const count = async (query: string) =>
  Number(await env.DB.prepare(`select count(*) as n from ${query}`).first("n"));

const runCron = () => workerWith({}).runCron();

async function aDocumentedCall(clinic: Organization, call: object = {}, egress: object = {}) {
  const documented = await aCall(clinic, call);
  const storage_key = `${clinic.slug}/${unique("file")}.wav`;
  await storeFile(storage_key);
  const reported = await documented.addEgress({ storage_key, ...egress });
  const line = {
    participant_key: documented.participants[0].key,
    text: "Good morning.",
    start_time: 0,
    end_time: 1,
  };
  await given(documented.reportTranscript({ is_final: true, lines: [line] }));
  await given(documented.reportSoapNote({ text: "Subjective: well.", is_final: true }));
  const statusOf = async (result: string) => (await clinic.client.get(`${documented.path}/${result}`)).status;
  return {
    ...documented,
    reported,
    storage_key,
    left: async () => ({
      recording: await fileExists(storage_key),
      transcript: (await statusOf("transcript")) === 200,
      note: (await statusOf("soap_note")) === 200,
    }),
    deletions: async () => {
      const { results } = await env.DB.prepare(
        "select resource, organization_user_id, user_id from access_logs where call_id = ? and event = 'delete' order by id",
      )
        .bind(documented.id)
        .all();
      return results;
    },
  };
}

const ALL = { recording: true, transcript: true, note: true };
const NOTHING = { recording: false, transcript: false, note: false };

/** A call that ended this many days and minutes ago. */
const endedAgo = (days: number, minutes = 0) => ({
  started_at: fromNow(-days * DAY - minutes - 30),
  ended_at: fromNow(-days * DAY - minutes),
});

describe("The cron's retention", () => {
  it("deletes results past their organization's retention, and nothing else", async () => {
    const clinic = await anOrganization();
    const other = await anOrganization();
    await keep(clinic, { recordings: 30, transcripts: 60 });
    const young = await aDocumentedCall(clinic, endedAgo(30, -5));
    const older = await aDocumentedCall(clinic, endedAgo(30, 5));
    const old = await aDocumentedCall(clinic, endedAgo(60, 5));
    const theirs = await aDocumentedCall(other, endedAgo(3000));
    await runCron();
    expect(await young.left()).toEqual(ALL);
    expect(await older.left()).toEqual({ ...ALL, recording: false });
    expect(await old.left()).toEqual(NOTHING);
    expect(await theirs.left()).toEqual(ALL);
    await keep(clinic, {});
    await runCron();
    expect(await young.left()).toEqual(ALL);
  });

  it("deletes recordings of ended calls even if the recording's end was lost, and nothing of ongoing calls", async () => {
    const clinic = await anOrganization();
    await keep(clinic, { recordings: 1, transcripts: 1 });
    const running = { status: "egress_active", is_stopped: false, ended_at: null };
    const lost = await aDocumentedCall(clinic, endedAgo(2), running);
    const endless = await aDocumentedCall(clinic, { ...endedAgo(300), ended_at: undefined }, running);
    await runCron();
    const egress = await given(clinic.client.get(`${lost.path}/egresses/${lost.reported.id}`));
    expect(egress).toMatchObject({ status: "egress_deleted", is_stopped: true, ended_at: null, url: null });
    expect(await fileExists(lost.storage_key)).toBe(false);
    expect(await fileExists(endless.storage_key)).toBe(true);
    expect(await endless.deletions()).toEqual([]);
  });

  it("counts from an end that is reported late, or corrected", async () => {
    const clinic = await anOrganization();
    await keep(clinic, { recordings: 10, transcripts: 10 });
    const started_at = fromNow(-40 * DAY);
    const call = await aDocumentedCall(clinic, { started_at, ended_at: undefined });
    await given(call.report({ ended_at: fromNow(-5 * DAY) }));
    await runCron();
    expect(await call.left()).toEqual(ALL);
    await given(call.report({ ended_at: fromNow(-20 * DAY) }));
    await runCron();
    expect(await call.left()).toEqual(NOTHING);
  });

  it("applies a shorter or longer retention at once", async () => {
    const clinic = await anOrganization();
    const call = await aDocumentedCall(clinic, endedAgo(50));
    await keep(clinic, { recordings: 100, transcripts: 100 });
    await runCron();
    expect(await call.left()).toEqual(ALL);
    await keep(clinic, { recordings: 40, transcripts: 40 });
    await runCron();
    expect(await call.left()).toEqual(NOTHING);
  });

  it("does not retry to delete a recording whose retention has been extended", async () => {
    const clinic = await anOrganization();
    const call = await aDocumentedCall(clinic, endedAgo(50));
    await keep(clinic, { recordings: 40 });
    await workerWith({ RECORDINGS: aBucket(() => true).binding }).runCron();
    await keep(clinic, { recordings: 60 });
    await runCron();
    expect(await call.left()).toEqual(ALL);
    travelTo(fromNow(11 * DAY));
    await runCron();
    expect(await call.left()).toEqual({ ...ALL, recording: false });
  });

  it("deletes nothing of a call under legal hold, and everything when the hold has ended", async () => {
    const clinic = await anOrganization();
    await keep(clinic, { recordings: 1, transcripts: 1 });
    const early = await aDocumentedCall(clinic, { ...endedAgo(50), legal_hold: true });
    const late = await aDocumentedCall(clinic, { ...endedAgo(50), ended_at: undefined });
    await given(late.report({ legal_hold: true }));
    await given(late.report({ ended_at: fromNow(-49 * DAY) }));
    await changingNothingOf(clinic, runCron);
    for (const call of [early, late]) expect(await call.left()).toEqual(ALL);
    await given(early.release());
    await given(late.release());
    await runCron();
    for (const call of [early, late]) expect(await call.left()).toEqual(NOTHING);
  });

  it("spares results that are reported during a legal hold", async () => {
    const clinic = await anOrganization();
    await keep(clinic, { recordings: 1, transcripts: 1 });
    const call = await aCall(clinic, { ...endedAgo(50), legal_hold: true });
    await given(call.reportSoapNote({ text: "Late.", is_final: true }));
    await changingNothingOf(clinic, runCron);
    await given(call.release());
    await runCron();
    expectRefusal(await clinic.client.get(`${call.path}/soap_note`), 404, "SOAP note not found");
  });

  it("deletes texts for good: no report brings them back", async () => {
    const clinic = await anOrganization();
    await keep(clinic, { transcripts: 1 });
    const call = await aDocumentedCall(clinic, endedAgo(50));
    await runCron();
    await keep(clinic, {});
    expectRefusal(
      await changingNothing(() => call.reportTranscript({ is_final: false, lines: [] })),
      422,
      "The transcript was deleted: it cannot be reported again",
    );
    expectRefusal(
      await changingNothing(() => call.reportSoapNote({ text: "Again.", is_final: false })),
      422,
      "The SOAP note was deleted: it cannot be reported again",
    );
    expect(await call.left()).toEqual({ ...NOTHING, recording: true });
  });
});

describe.each([
  ["transcript", "Transcript"],
  ["soap_note", "SOAP note"],
])("The platform's DELETE …/calls/{key}/%s", (subject, name) => {
  const remove = ({ url }: { url: string }) => platform.delete(`${url}/${subject}`);

  async function aResult(call: object = {}) {
    const clinic = await anOrganization();
    const documented = await aDocumentedCall(clinic, call);
    return { clinic, ...documented, read: () => clinic.client.get(`${documented.path}/${subject}`) };
  }

  it("deletes the text, writes an access log entry with ids only, and keeps the rest of the call", async () => {
    const { clinic, read, left, deletions, owner, ...call } = await aResult();
    for (const _ of ["first", "repeated"])
      expect(await remove(call)).toMatchObject({ status: 204, body: null });
    expectRefusal(await read(), 404, `${name} not found`);
    expect(await left()).toEqual({ ...ALL, [subject === "transcript" ? "transcript" : "note"]: false });
    expect(await deletions()).toEqual([
      { resource: subject, organization_user_id: owner.id, user_id: SYSTEM_USER_ID },
    ]);
    const { events } = await given(clinic.client.get(`/events?type=${subject}.deleted`));
    expect(events).toMatchObject([{ data: { organization_user_id: owner.id, call_id: call.id } }]);
  });

  const report = (call: Awaited<ReturnType<typeof aCall>>, is_final: boolean) =>
    subject === "transcript"
      ? call.reportTranscript({ is_final, lines: [] })
      : call.reportSoapNote({ text: "Again.", is_final });

  it("makes later reports of the text fail", async () => {
    const call = await aResult();
    await given(remove(call));
    for (const is_final of [true, false])
      expectRefusal(
        await changingNothing(() => report(call, is_final)),
        422,
        `The ${name === "Transcript" ? "transcript" : name} was deleted: it cannot be reported again`,
      );
    await given(call.report({ failed: true }));
    expect((await call.read()).status).toBe(404);
  });

  it("changes nothing without a text, and does not keep later reports out", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic);
    expect((await changingNothing(() => remove(call))).status).toBe(204);
    await given(report(call, true));
    expect((await clinic.client.get(`${call.path}/${subject}`)).status).toBe(200);
  });

  it("makes the database refuse the text, whatever code writes it", async () => {
    const call = await aResult();
    await given(remove(call));
    const columns = subject === "transcript" ? "lines_digest" : "text";
    const insert = `insert into call_texts (organization_id, call_id, kind, ${columns}, is_final, created_at, updated_at)
      values (?, ?, '${subject}', '', 0, 0, 0)`;
    await expect(env.DB.prepare(insert).bind(call.clinic.id, call.id).run()).rejects.toThrow(/was deleted/);
  });

  it("is refused under legal hold", async () => {
    const call = await aResult({ legal_hold: true });
    expectRefusal(await changingNothing(() => remove(call)), 422, HELD);
    await given(call.release());
    expect((await remove(call)).status).toBe(204);
  });
});

it.each([
  ["transcript", "transcript"],
  ["SOAP note", "soap_note"],
])("The database deletes no %s without an access log entry", async (_, kind) => {
  const { id } = await aDocumentedCall(await anOrganization());
  await changingNothing(async () => {
    const deletion = env.DB.prepare("delete from call_texts where call_id = ? and kind = ?")
      .bind(id, kind)
      .run();
    await expect(deletion).rejects.toThrow("the text of a call is deleted with an entry of the access log");
  });
});

/** Calls with all results, and their files. Each call ended this many days ago. */
async function manyCalls(clinic: Organization, days: number, withFiles = true) {
  const { owner, room } = await aCall(clinic);
  // The files are stored under the keys of the calls.
  const word = `${clinic.slug}/${unique("many")}`;
  await insertMany(
    SIZE,
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed,
       created_at, updated_at)
     select ?1, ?2 || '-' || n, ?3, ?4, ?5 - n, ?5, false, n, n from counter`,
    clinic.id,
    word,
    owner.id,
    room.id,
    Date.now() - days * 86_400_000,
  );
  const ours = `from calls where key glob '${word}-*'`;
  await env.DB.batch(
    [
      `insert into egresses (organization_id, call_id, egress_id, status, is_stopped, storage_key, created_at, updated_at)
       select organization_id, id, key, 'egress_ended', 1, key || '.wav', 1, 1 ${ours}`,
      `insert into call_texts (organization_id, call_id, kind, is_final, lines_digest, created_at, updated_at)
       select organization_id, id, 'transcript', 1, '', 1, 1 ${ours}`,
      `insert into call_texts (organization_id, call_id, kind, is_final, text, created_at, updated_at)
       select organization_id, id, 'soap_note', 1, 'Well.', 1, 1 ${ours}`,
    ].map((statement) => env.DB.prepare(statement)),
  );
  // These events are so old that another chore of the cron would delete a portion of them in each run.
  await env.DB.prepare(`delete from events where created_at <= ${SIZE}`).run();
  const keys = Array.from({ length: SIZE }, (_, n) => `${word}-${n + 1}`);
  if (withFiles)
    await Promise.all(
      keys.filter((_, n) => n % EACH_WITH_A_FILE === 0).map((key) => env.RECORDINGS.put(`${key}.wav`, "")),
    );
  return { keys, where: `call_id in (select id ${ours})` };
}

describe(`The retention of ${SIZE} calls`, { timeout: 120_000 }, () => {
  it("ends over several bounded runs, despite random faults of the storage and a legal hold in between", async () => {
    const usual = await rowsReadForNothing();
    const clinic = await anOrganization();
    const expired = await manyCalls(clinic, 40);
    const other = await anOrganization();
    const staying = [
      await aDocumentedCall(clinic, endedAgo(20)),
      await aDocumentedCall(clinic, { ...endedAgo(40), ended_at: undefined }),
      await aDocumentedCall(other, endedAgo(40)),
    ];
    await keep(clinic, { recordings: 30, transcripts: 30 });
    const files = new Set(await allFiles());

    // The calls that the cron reaches last, one with a file and one without.
    const pathOfHold = (key: string) => `/calls/${encodeURIComponent(key)}/legal_hold`;
    const heldKeys = [SIZE - 19, SIZE - 1].map((n) => expired.keys[n - 1] as string);
    const bucket = aBucket(() => Math.random() < 0.2);
    const counting = countingRows();
    const theWorker = workerWith({
      DB: counting.DB,
      RECORDINGS: bucket.binding,
      BULK_INVITES: aQueue().binding,
    });
    const undeleted = () => count(`egresses where ${expired.where} and status <> 'egress_deleted'`);
    const texts = () => count(`call_texts where ${expired.where}`);

    let left = SIZE;
    let leftTexts = 2 * SIZE;
    let runs = 0;
    for (; left > heldKeys.length || leftTexts > 2 * heldKeys.length; runs++) {
      const { rows_read } = await counting.during(() => theWorker.runCron());
      expect(rows_read - usual).toBeLessThan(READ_IN_A_RUN);
      const [now, nowTexts] = [await undeleted(), await texts()];
      expect(left - now).toBeLessThanOrEqual(RECORDINGS_DELETED);
      expect(leftTexts - nowTexts).toBeLessThanOrEqual(TEXTS_DELETED);
      if (runs > 100) throw new Error(`${now} recordings and ${nowTexts} texts are left`);
      [left, leftTexts] = [now, nowTexts];
      if (runs === 1)
        for (const key of heldKeys) await given(clinic.platform.put(pathOfHold(key), { legal_hold: {} }));
    }

    // Everything that must stay is still there, everything else is gone, and no file is orphaned.
    const heldFiles = heldKeys.map((key) => `${key}.wav`);
    const gone = new Set(expired.keys.map((key) => `${key}.wav`).filter((file) => !heldFiles.includes(file)));
    expect(new Set(await allFiles())).toEqual(new Set([...files].filter((file) => !gone.has(file))));
    for (const call of staying) expect((await call.left()).recording).toBe(true);
    expect(await staying[0]?.left()).toEqual(ALL);
    expect(await count(`egresses where status <> 'egress_deleted' and ${expired.where}`)).toBe(2);

    // Each deletion has one entry.
    const entries = await env.DB.prepare(
      `select count(*) as n, count(distinct egress_id) as egresses from egress_audit_logs
       where event = 'update' and object_changes ->> '$.status[1]' = 'egress_deleted'
         and egress_id in (select id from egresses where ${expired.where})`,
    ).first();
    expect(entries).toEqual({ n: SIZE - 2, egresses: SIZE - 2 });
    const deletions = await env.DB.prepare(
      `select resource, count(*) as n, count(distinct call_id) as calls from access_logs
       where event = 'delete' and ${expired.where} group by 1 order by 1`,
    ).all();
    expect(deletions.results).toEqual(
      ["egress", "soap_note", "transcript"].map((resource) => ({ resource, n: SIZE - 2, calls: SIZE - 2 })),
    );

    // After the holds, the rest is deleted.
    for (const key of heldKeys) await given(clinic.platform.delete(pathOfHold(key)));
    bucket.refuses = () => false;
    await theWorker.runCron();
    expect([await undeleted(), await texts()]).toEqual([0, 0]);
    expect((await rowsReadForNothing()) - usual).toBeLessThan(READ_FOR_NOTHING);
  });
});
