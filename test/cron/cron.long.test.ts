import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { CRON_PORTION, OUTWARD_SHARE, RECORDINGS_DELETED } from "../../src/tuning.ts";
import { MINUTE } from "../../src/units.ts";
import {
  insertBulkInvites,
  insertCodes,
  insertEvents,
  insertIdempotencyKeys,
} from "../worker/support/backlogs.ts";
import { aCall } from "../worker/support/calls.ts";
import { isSharded } from "../worker/support/deployed.ts";
import { emptyStorage } from "../worker/support/empty_storage.ts";
import { observedDatabase } from "../worker/support/observed_database.ts";
import { anInvite, anOrganization, given, type Organization } from "../worker/support/organization.ts";
import {
  aClinicWithQueue,
  aQueue,
  EARLIER_ROW,
  rowsReadForNothing,
  workerWith,
} from "../worker/support/queue.ts";
import { countingRows, insertMany } from "../worker/support/rows.ts";
import { aClinicWithSignIn, expectExchanged, redeem } from "../worker/support/sign_in.ts";
import { fromNow, travelTo } from "../worker/support/time.ts";

const DAY = 24 * 60;
const BACKLOG = 10_000;

/** The rows that a run may read for a portion, including its share of indexes and totals. */
const READ_FOR_A_PORTION = 20 * CRON_PORTION;

/** How many unneeded rows a run may read because of a test's rows, however many rows the test has. */
const READ_FOR_NOTHING = 65;

const COULD_NOT_BE_MADE = "The invite could not be created; please invite this person again";

beforeEach(emptyStorage);

const count = async (query: string) =>
  Number(await env.DB.prepare(`select count(*) as n from ${query}`).first("n"));

/** Inserts waiting participants who were last reported at this time. */
const insertWaits = ({ id }: Organization, waiting_room_id: number, size: number, updated_at: number) =>
  insertMany(
    size,
    `insert into recorded_participants (organization_id, key, waiting_room_id, display_name, role, waiting_since, created_at, updated_at)
     select ?1, n || '-' || ?3, ?2, 'Rita Recipient', 'recipient', ?3, ?3, ?3 from counter`,
    id,
    waiting_room_id,
    updated_at,
  );

/** Inserts egresses without a call that LiveKit last reported at this time. */
const insertLiveKitEgresses = ({ id }: Organization, size: number, at: number) =>
  insertMany(
    size,
    `insert into egresses (organization_id, egress_id, call_key, status, is_stopped, created_at, updated_at)
     select ?1, n || '-' || ?2, 'RM_' || n, 'egress_starting', 0, ?2, ?2 from counter`,
    id,
    at,
  );

/** Runs the cron until the backlog is gone, or no longer shrinks. Returns the number of rows left after each run. */
async function leftAfterEachRun(query: string) {
  const counting = countingRows();
  const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
  const left = [await count(query)];
  while (left.at(-1) !== 0) {
    const { rows_read } = await counting.during(() => runCron());
    expect(rows_read).toBeLessThan(READ_FOR_A_PORTION);
    left.push(await count(query));
    if (left.at(-1) === left.at(-2)) break;
  }
  return left;
}

/** From the backlog down to 0, in equal steps. */
const steps = (backlog: number, step: number) =>
  Array.from({ length: backlog / step + 1 }, (_, n) => backlog - n * step);

describe(`A backlog of ${BACKLOG}`, () => {
  const atOnce = steps(BACKLOG, CRON_PORTION);

  it.each([
    ["old authorization codes", insertCodes, "authorization_codes", "expires_at", DAY],
    ["idempotency keys", insertIdempotencyKeys, "idempotency_keys", "created_at", DAY],
    ["old events", insertEvents, "events where type = 'call.started'", "created_at", 30 * DAY],
  ] as const)("%s is deleted in portions, and younger ones stay", async (_, insert, rows, time, minutes) => {
    const clinic = await anOrganization();
    const old = Date.now() - (minutes + 1) * MINUTE;
    await insert(clinic, BACKLOG, old);
    await insert(clinic, 100, Date.now() - (rows === "authorization_codes" ? 0 : (DAY - 1) * MINUTE));
    const ofTime = `${rows} ${rows.includes("where") ? "and" : "where"} ${time} = ${old}`;
    expect(await leftAfterEachRun(ofTime)).toEqual(atOnce);
    expect(await count(rows)).toBe(100);
  });

  it("LiveKit egresses without a call is deleted in portions after 30 days, and younger ones stay", async () => {
    const clinic = await anOrganization();
    const old = Date.now() - (30 * DAY + 1) * MINUTE;
    await insertLiveKitEgresses(clinic, 4 * RECORDINGS_DELETED, old);
    await insertLiveKitEgresses(clinic, 100, Date.now() - (30 * DAY - 1) * MINUTE);
    const ours = `egresses where organization_id = ${clinic.id} and status <> 'egress_deleted'`;
    expect(await leftAfterEachRun(`${ours} and created_at = ${old}`)).toEqual(
      steps(4 * RECORDINGS_DELETED, RECORDINGS_DELETED),
    );
    expect(await count(ours)).toBe(100);
  });

  it("waits without an end is ended in portions after a day, and younger ones go on", async () => {
    const clinic = await anOrganization();
    const { id } = await clinic.addRoom();
    const old = Date.now() - (DAY + 1) * MINUTE;
    await insertWaits(clinic, id, BACKLOG, old);
    await insertWaits(clinic, id, 100, Date.now() - (DAY - 1) * MINUTE);
    expect(await leftAfterEachRun(`participants where updated_at = ${old}`)).toEqual(atOnce);
    expect(await count("participants where left_at is null")).toBe(100);
  });

  it.each([
    ["many requests of one row", BACKLOG, 1],
    ["a few requests of many rows", 10, BACKLOG / 10],
  ])("old rows of bulk invites loses its personal data in portions: %s", async (_, requests, rows) => {
    const clinic = await anOrganization();
    await insertBulkInvites(clinic, requests, rows, Date.now() - 31 * DAY * MINUTE, true);
    const personal = "bulk_invite_rows where email <> '' or display_name <> ''";
    expect(await leftAfterEachRun(personal)).toEqual(atOnce);
    expect(await count("bulk_invites where erased_at is null")).toBe(0);
    expect(await count("bulk_invite_rows where status = 'created'")).toBe(BACKLOG);
  });

  it("pending bulk invites gets a share of messages in each run, and is read no further", async () => {
    const clinic = await anOrganization();
    const usual = await rowsReadForNothing();
    await insertBulkInvites(clinic, BACKLOG, 1, Date.now() - DAY * MINUTE);
    const [queue, counting] = [aQueue(), countingRows()];
    const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: queue.binding });
    for (let run = 1; run <= 2; run++) {
      const { rows_read } = await counting.during(() => runCron());
      expect(rows_read - usual).toBeLessThan(READ_FOR_NOTHING + 10 * OUTWARD_SHARE);
      expect(queue.take()).toHaveLength(OUTWARD_SHARE);
    }
  });
});

describe("A run of the cron with nothing to do", () => {
  it(`reads nearly nothing, even with ${BACKLOG} rows that are too young for it`, async () => {
    const usual = await rowsReadForNothing();
    const clinic = await anOrganization();
    await insertCodes(clinic, BACKLOG, Date.now());
    await insertIdempotencyKeys(clinic, BACKLOG, Date.now());
    await insertEvents(clinic, BACKLOG, Date.now());
    await insertLiveKitEgresses(clinic, BACKLOG, Date.now());
    await insertBulkInvites(clinic, 10, BACKLOG / 10, Date.now() - DAY * MINUTE, true);
    expect((await rowsReadForNothing()) - usual).toBeLessThan(READ_FOR_NOTHING);
  });
});

/** The log line of a run of the cron, without its duration. With several databases, that of the tests' own one. */
async function loggedRun(bindings: object = {}) {
  const logged = vi.spyOn(console, "log");
  onTestFinished(() => logged.mockRestore());
  await workerWith({ BULK_INVITES: aQueue().binding, ...bindings }).runCron();
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  logged.mockRestore();
  const runs = lines.filter(({ event, shard }) => event === "cron" && shard !== 0);
  expect(runs).toHaveLength(1);
  const { duration_ms, ...done } = runs[0];
  expect(duration_ms).toEqual(expect.any(Number));
  return done;
}

describe("The log line of a run of the cron", () => {
  const NOTHING = {
    event: "cron",
    queueDueBulkInvites: 0,
    erasePersonalData: 0,
    deleteOldCodes: 0,
    deleteOldRooms: 0,
    deleteOldVisitors: 0,
    endClosedRooms: 0,
    stopRefusedEgresses: 0,
    deleteOldIdempotencyKeys: 0,
    endSilentCalls: 0,
    endSilentWaits: 0,
    endVisits: 0,
    deleteOldTexts: 0,
    deleteOldRecordings: 0,
    eraseParticipants: 0,
    eraseReferences: 0,
    reportFrozen: 0,
    recoverLostEgresses: 0,
    deleteOldEvents: 0,
    deleteOldDeliveries: 0,
    sealDays: 0,
    deleteOldAccessLogs: 0,
    deleteOldClientDays: 0,
    deleteOldMailedAddresses: 0,
    deleteUnclaimedRefusals: 0,
    queueDueMails: 0,
    queueDueDeliveries: 0,
    ...(isSharded && { shard: 1 }),
  };

  it("has the number of rows of each chore, even if it is 0", async () => {
    const clinic = await anOrganization();
    await insertCodes(clinic, 3, Date.now() - 2 * DAY * MINUTE);
    await insertBulkInvites(clinic, 2, 1, Date.now() - DAY * MINUTE);
    const old = await anOrganization();
    await insertBulkInvites(old, 1, 5, Date.now() - 31 * DAY * MINUTE, true);
    expect(await loggedRun()).toEqual({
      ...NOTHING,
      queueDueBulkInvites: 2,
      erasePersonalData: 5,
      deleteOldCodes: 3,
    });
    expect(await loggedRun()).toEqual({ ...NOTHING, queueDueBulkInvites: 2 });
  });

  it("names a chore that failed", async () => {
    const DB = observedDatabase({
      prepare(text) {
        if (text.startsWith('delete from "authorization_codes"'))
          throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    expect(await loggedRun({ DB })).toEqual({ ...NOTHING, deleteOldCodes: "failed" });
  });
});

it("The cron records its run, and reports a backup that was never noted or is older than 36 hours", async () => {
  const now = Date.now();
  const lines = async () => {
    const spy = vi.spyOn(console, "log");
    onTestFinished(() => spy.mockRestore());
    await workerWith({ BULK_INVITES: aQueue().binding }).runCron();
    const logged = spy.mock.calls.map(([line]) => JSON.parse(String(line)));
    spy.mockRestore();
    return logged
      .filter(({ event }) => event === "backup_late")
      .map(({ hours_since_backup }) => hours_since_backup);
  };
  const note = (hours: number) =>
    env.DB.prepare("insert or replace into database_settings (name, value) values ('backup', ?)")
      .bind(now - hours * 60 * MINUTE)
      .run();
  expect(await lines()).toContain(undefined);
  const { value } =
    (await env.DB.prepare("select value from database_settings where name = 'cron'").first()) ?? {};
  expect(Number(value)).toBeGreaterThan(now - DAY * MINUTE);
  await note(35);
  expect(await lines()).toEqual(isSharded ? [undefined] : []);
  await note(37);
  expect(await lines()).toContain(37);
});

describe("A failed chore of the cron", () => {
  const deleted = "status = 'egress_deleted'";

  /** A call whose results are past the retention of its organization. */
  async function anOldCall(clinic: Organization) {
    const call = await aCall(clinic);
    await call.addEgress();
    await given(call.reportTranscript({ is_final: true, lines: [] }));
    await given(call.reportSoapNote({ text: "Subjective: well.", is_final: true }));
    await env.DB.prepare(
      `update organizations set recording_retention_days = 1, transcript_retention_days = 1, participant_retention_days = 1
       where id = ?`,
    )
      .bind(clinic.id)
      .run();
    return call;
  }

  /** A call and a wait without a report for two days. */
  async function aSilentVisit(clinic: Organization) {
    const { id: call, room } = await aCall(clinic, { ended_at: undefined });
    const { id: wait } = await clinic.addParticipant(room.slug);
    for (const table of ["calls", "participants"])
      await env.DB.prepare(`update ${table} set updated_at = ? where organization_id = ?`)
        .bind(Date.now() - 2 * DAY * MINUTE, clinic.id)
        .run();
    return { call, wait: wait as number };
  }

  it.each([
    ["queueDueBulkInvites", 'select "id" from "bulk_invites"'],
    ["erasePersonalData", 'update "bulk_invite_rows"'],
    ["deleteOldCodes", 'delete from "authorization_codes"'],
    ["endSilentCalls", 'select "id" from "calls"'],
    ["endSilentWaits", 'update "participants" set "left_at" = max(coalesce('],
    ["deleteOldTexts", 'delete from "call_texts"'],
    ["deleteOldRecordings", 'update "egresses" set "deletion_due_at"'],
    ["eraseParticipants", 'update "participants" set "key"'],
    ["deleteOldEvents", 'delete from "events"'],
  ])("is logged, and does not stop the others: %s", async (chore, beginning) => {
    const clinic = await anOrganization();
    await insertCodes(clinic, 1, Date.now() - 2 * DAY * MINUTE);
    await insertEvents(clinic, 1, 0);
    await insertBulkInvites(clinic, 1, 1, Date.now() - DAY * MINUTE);
    const old = await anOrganization();
    await insertBulkInvites(old, 1, 1, Date.now() - 31 * DAY * MINUTE, true);
    const call = await anOldCall(clinic);
    const silent = await aSilentVisit(clinic);
    const queue = aQueue();
    const done = async () => ({
      queueDueBulkInvites: queue.sent.length > 0,
      erasePersonalData: (await count("bulk_invite_rows where email = ''")) === 1,
      deleteOldCodes: (await count("authorization_codes")) === 0,
      endSilentCalls: (await count(`calls where end_is_assumed and id = ${silent.call}`)) === 1,
      endSilentWaits: (await count(`participants where left_is_assumed and id = ${silent.wait}`)) === 1,
      deleteOldTexts: (await count(`call_texts where call_id = ${call.id}`)) === 0,
      deleteOldRecordings: (await count(`egresses where ${deleted} and call_id = ${call.id}`)) === 1,
      eraseParticipants: (await count(`participants where erased_at is null and call_id = ${call.id}`)) === 0,
      deleteOldEvents: (await count("events where created_at = 0")) === 0,
    });
    const DB = observedDatabase({
      prepare(text) {
        if (text.startsWith(beginning)) throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const logged = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    await workerWith({ DB, BULK_INVITES: queue.binding }).runCron();
    const others = Object.fromEntries(Object.keys(await done()).map((name) => [name, true]));
    expect(await done()).toEqual({ ...others, [chore]: false });
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toMatchObject([{ event: "fault", chore }]);
    await workerWith({ BULK_INVITES: queue.binding }).runCron();
    expect(await done()).toEqual(others);
  });

  it("is also logged if the cause is a missing setting", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    await workerWith({ APP_URL: undefined }).runCron();
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    for (const line of lines) expect(line).toMatchObject({ event: "fault", chore: expect.any(String) });
    expect(lines.length).toBeGreaterThan(0);
  });
});

it("The cron deletes authorization codes a day after they expire, and not before", async () => {
  const { clinic, client, provider, email } = await aClinicWithSignIn();
  const { runCron } = await aClinicWithQueue();
  const codesOf = () => count(`authorization_codes where organization_id = ${clinic.id}`);
  const newCode = async () => expectExchanged(client, await provider.token({ email }));
  await given(redeem(await newCode()));
  await newCode();
  travelTo(fromNow(12 * 60));
  await newCode();
  travelTo(fromNow(12 * 60 - 1));
  await runCron();
  expect(await codesOf()).toBe(3);
  travelTo(fromNow(3));
  await runCron();
  expect(await codesOf()).toBe(1);
});

describe("The personal data of a bulk invite", () => {
  /** Two rows will create an invite, and one will fail. From now on, time passes only when the test says so. */
  async function aBulkInvite() {
    travelTo(fromNow(0));
    const clinic = await aClinicWithQueue();
    const [first, second] = [anInvite(), anInvite()];
    const { id, messages } = await clinic.bulkInvite([first, second, anInvite({ email: first.email })]);
    return { clinic, id, messages, first };
  }

  const personalRows = () => count("bulk_invite_rows where email <> '' or display_name <> ''");

  it("is deleted after 30 days, and not before, while the counts, statuses and errors stay", async () => {
    const { clinic, id, messages, first } = await aBulkInvite();
    await clinic.consume(messages);
    const before = await clinic.progressOf({ id });
    expect(before.failures).toEqual([{ row: 2, email: first.email, error: EARLIER_ROW }]);
    travelTo(fromNow(30 * DAY));
    await clinic.runCron();
    expect(await clinic.progressOf({ id })).toEqual(before);
    expect(await personalRows()).toBe(3);
    const younger = await clinic.bulkInvite([anInvite()]);
    await clinic.consume(younger.messages);
    travelTo(fromNow(1));
    await clinic.runCron();
    expect(await clinic.progressOf({ id })).toEqual({
      ...before,
      failures: [{ row: 2, email: null, error: EARLIER_ROW }],
    });
    expect(await personalRows()).toBe(1);
  });

  it("is deleted even if rows are still pending, which then fail", async () => {
    const { clinic, id, messages } = await aBulkInvite();
    const time = fromNow(30 * DAY + 1);
    travelTo(time);
    await clinic.runCron();
    const ended = await clinic.progressOf({ id });
    expect(ended).toMatchObject({
      status: "completed",
      created_count: 0,
      failed_count: 3,
      updated_at: time,
      failures: [0, 1, 2].map((row) => ({ row, email: null, error: COULD_NOT_BE_MADE })),
    });
    await clinic.consume(messages);
    await clinic.runCron();
    expect(await clinic.progressOf({ id })).toEqual(ended);
    expect(await clinic.pendingInvites()).toEqual([]);
  });
});
