import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../../src/organization/members/organization_users.table.ts";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { ALL, aDocumentedCall, endedAgo, keep, NOTHING } from "../support/retention.ts";
import { aBucket, fileExists } from "../support/storage.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing, changingNothingOf } from "../support/unchanged.ts";

const DAY = 24 * 60;

/** Lets the organizations of other tests keep everything. */
beforeEach(async () => {
  await env.DB.prepare(
    `update organizations set recording_retention_days = null, transcript_retention_days = null,
       participant_retention_days = null`,
  ).run();
});

const runCron = () => workerWith({}).runCron();

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
    // This run announces that the results are ready.
    await runCron();
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
    await runCron();
    await changingNothingOf(clinic, runCron);
    await given(call.release());
    await runCron();
    expectRefusal(await clinic.client.get(`${call.path}/soap_note`), 404, "SOAP note not found");
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

  it("makes the database refuse the text, whatever code writes it", async () => {
    const call = await aResult();
    await given(remove(call));
    const columns = subject === "transcript" ? "lines_digest" : "text";
    const insert = `insert into call_texts (organization_id, call_id, kind, ${columns}, is_final, created_at, updated_at)
      values (?, ?, '${subject}', '', 0, 0, 0)`;
    await expect(env.DB.prepare(insert).bind(call.clinic.id, call.id).run()).rejects.toThrow(/was deleted/);
  });

  it("is the only way to delete it: the database deletes no text without an access log entry", async () => {
    const { id } = await aResult();
    const deletion = env.DB.prepare("delete from call_texts where call_id = ? and kind = ?").bind(
      id,
      subject,
    );
    await changingNothing(() =>
      expect(deletion.run()).rejects.toThrow("the text of a call is deleted with an entry of the access log"),
    );
  });
});
