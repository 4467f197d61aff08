import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { OUTWARD_SHARE } from "../../src/tuning.ts";
import { MINUTE } from "../../src/units.ts";
import {
  insertBulkInvites,
  insertCodes,
  insertEvents,
  insertIdempotencyKeys,
} from "../worker/support/backlogs.ts";
import { isSharded } from "../worker/support/deployed.ts";
import { emptyStorage } from "../worker/support/empty_storage.ts";
import { observedDatabase } from "../worker/support/observed_database.ts";
import { anInvite, anOrganization } from "../worker/support/organization.ts";
import {
  aClinicWithQueue,
  aQueue,
  EARLIER_ROW,
  rowsReadForNothing,
  workerWith,
} from "../worker/support/queue.ts";
import { countingRows } from "../worker/support/rows.ts";
import { fromNow, travelTo } from "../worker/support/time.ts";

const DAY = 24 * 60;
const BACKLOG = 10_000;

/** How many unneeded rows a run may read because of a test's rows, however many rows the test has. */
const READ_FOR_NOTHING = 65;

const COULD_NOT_BE_MADE = "The invite could not be created; please invite this person again";

beforeEach(emptyStorage);

const count = async (query: string) =>
  Number(await env.DB.prepare(`select count(*) as n from ${query}`).first("n"));

it.each([
  ["authorization codes", insertCodes, "authorization_codes", "expires_at", DAY, 0],
  ["idempotency keys", insertIdempotencyKeys, "idempotency_keys", "created_at", DAY, DAY - 1],
  ["events", insertEvents, "events where type = 'call.started'", "created_at", 30 * DAY, DAY - 1],
] as const)("The cron deletes old %s, and younger ones stay", async (_, insert, rows, time, old, young) => {
  const clinic = await anOrganization();
  const [before, after] = [old + 1, young].map((minutes) => Date.now() - minutes * MINUTE) as [
    number,
    number,
  ];
  for (const at of [before, after]) await insert(clinic, 10, at);
  await workerWith({ BULK_INVITES: aQueue().binding }).runCron();
  expect(await count(rows)).toBe(10);
  expect(await count(`${rows} ${rows.includes("where") ? "and" : "where"} ${time} = ${after}`)).toBe(10);
});

it("Each run of the cron sends a share of messages for pending bulk invites, and reads no further", async () => {
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

it("The log line of a run of the cron has the number of rows of each chore, even if it is 0", async () => {
  const clinic = await anOrganization();
  await insertCodes(clinic, 3, Date.now() - 2 * DAY * MINUTE);
  await insertBulkInvites(clinic, 2, 1, Date.now() - DAY * MINUTE);
  const old = await anOrganization();
  await insertBulkInvites(old, 1, 5, Date.now() - 31 * DAY * MINUTE, true);
  const { event, shard, ...done } = await loggedRun();
  expect([event, shard]).toEqual(["cron", isSharded ? 1 : undefined]);
  expect(Object.keys(done).length).toBeGreaterThan(20);
  const nothing = Object.fromEntries(Object.keys(done).map((chore) => [chore, 0]));
  const counts = { queueDueBulkInvites: 2, erasePersonalData: 5, deleteOldCodes: 3 };
  expect(done).toEqual({ ...nothing, ...counts });
  expect(await loggedRun()).toEqual({ event, shard, ...nothing, queueDueBulkInvites: 2 });
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

it.each([
  ["queueDueBulkInvites", 'select "id" from "bulk_invites"'],
  ["deleteOldCodes", 'delete from "authorization_codes"'],
  ["deleteOldEvents", 'delete from "events"'],
])("A failed chore of the cron is logged, and does not stop the others: %s", async (chore, beginning) => {
  const clinic = await anOrganization();
  await insertCodes(clinic, 1, Date.now() - 2 * DAY * MINUTE);
  await insertEvents(clinic, 1, 0);
  await insertBulkInvites(clinic, 1, 1, Date.now() - DAY * MINUTE);
  const queue = aQueue();
  const done = async () => ({
    queueDueBulkInvites: queue.sent.length > 0,
    deleteOldCodes: (await count("authorization_codes")) === 0,
    deleteOldEvents: (await count("events where created_at = 0")) === 0,
  });
  const DB = observedDatabase({
    prepare(text) {
      if (text.startsWith(beginning)) throw new Error("D1_ERROR: Network connection lost.");
    },
  });
  const logged = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => logged.mockRestore());
  expect(await loggedRun({ DB, BULK_INVITES: queue.binding })).toMatchObject({ [chore]: "failed" });
  const others = { queueDueBulkInvites: true, deleteOldCodes: true, deleteOldEvents: true };
  expect(await done()).toEqual({ ...others, [chore]: false });
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines).toMatchObject([{ event: "fault", chore }]);
  await workerWith({ BULK_INVITES: queue.binding }).runCron();
  expect(await done()).toEqual(others);
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
