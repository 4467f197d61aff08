import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { RECORDINGS_DELETED, TEXTS_DELETED } from "../../src/tuning.ts";
import { aCall } from "../worker/support/calls.ts";
import { emptyStorage } from "../worker/support/empty_storage.ts";
import { anOrganization, given, type Organization, unique } from "../worker/support/organization.ts";
import { aQueue, rowsReadForNothing, workerWith } from "../worker/support/queue.ts";
import { ALL, aDocumentedCall, count, endedAgo, keep } from "../worker/support/retention.ts";
import { countingRows, insertMany } from "../worker/support/rows.ts";
import { aBucket, allFiles } from "../worker/support/storage.ts";

/** Several runs are needed to delete this many calls, so that the last ones wait for their turn. */
const SIZE = 5 * RECORDINGS_DELETED;
/** The local R2 takes a few milliseconds to create a file, so only some recordings have one. */
const EACH_WITH_A_FILE = 20;
/** The rows that a run may read, however many calls there are, including the entry for each deletion. */
const READ_IN_A_RUN = 120 * RECORDINGS_DELETED;

/** How many unneeded rows a run may read because of a test's rows, however many rows the test has. */
const READ_FOR_NOTHING = 60;

beforeEach(emptyStorage);

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

describe(`The retention of ${SIZE} calls`, () => {
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
