import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { BULK_INVITE_FAULTS, BULK_INVITE_PORTIONS } from "../../../src/tuning.ts";
import { insertBulkInvites } from "../support/backlogs.ts";
import { everyRowAsText } from "../support/database.ts";
import type { Fault } from "../support/faulty_database.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anInvite, anOrganization, given } from "../support/organization.ts";
import {
  aClinicWithQueue,
  aDatabaseForPortions,
  aMessage,
  aQueue,
  invitesOf,
  leavingNoInvites,
  type Message,
  QUEUE,
  rowHasPendingInvite,
  WAKE_UP,
  workerWith,
} from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

const COULD_NOT_BE_MADE = "The invite could not be created; please invite this person again";

const idsOf = (messages: Message[]) => messages.map(({ id }) => id);

const emailsOf = (invites: { email: string }[]) => invites.map(({ email }) => email).sort();

/** A database whose round trips meet these faults in this order, and then none. */
function aDatabaseWith(faults: Fault[]) {
  const upcoming = [...faults];
  return observedDatabase({
    query: async (run) => {
      const fault = upcoming.shift();
      if (fault === "not made") throw new Error("D1_ERROR: Network connection lost.");
      const result = await run();
      if (fault === "answer lost") throw new Error("D1_ERROR: Network connection lost.");
      return result;
    },
  });
}

const always = (fault: Fault) => Array<Fault>(1000).fill(fault);

/** The write is the fourth round trip: the consumer first reads whether it is quiet and what is due, then the portion. */
const AT_THE_WRITE = (fault: Fault): Fault[] => [undefined, undefined, undefined, fault];

const consumeWith = (DB: D1Database, messages: Message[]) =>
  workerWith({ DB, BULK_INVITES: aQueue().binding }).consume(messages);

describe("The consumer of bulk invites", () => {
  it("processes all pending rows for one message, and sends no other", async () => {
    const clinic = await aClinicWithQueue();
    const requests = [await clinic.bulkInvite(invitesOf(150)), await clinic.bulkInvite(invitesOf(3))];
    clinic.queue.take();
    const message = aMessage(WAKE_UP);
    expect(await clinic.consume([message])).toMatchObject({ acked: [message.id], retried: [] });
    for (const { id, bulk_invite } of requests)
      expect(await clinic.progressOf({ id })).toMatchObject({
        status: "completed",
        created_count: bulk_invite.total_count,
      });
    expect(clinic.queue.sent).toEqual([]);
  });

  it("sends another message if there is more to do than one invocation may, which processes the rest", async () => {
    const clinic = await aClinicWithQueue();
    const size = BULK_INVITE_PORTIONS + 10;
    await insertBulkInvites(clinic, size, 1, Date.now());
    const uncompleted = () =>
      env.DB.prepare(
        "select count(*) as n from bulk_invites where completed_at is null and organization_id = ?",
      )
        .bind(clinic.id)
        .first("n");
    await clinic.consume([aMessage(WAKE_UP)]);
    expect(await uncompleted()).toBe(10);
    const [next, ...others] = clinic.queue.take();
    expect([next?.body, others]).toEqual([WAKE_UP, []]);
    await clinic.consume(next ? [next] : []);
    expect(await uncompleted()).toBe(0);
    expect(clinic.queue.take()).toEqual([]);
  });

  it("retries the message if D1 fails in the middle, and keeps the rows that are done", async () => {
    const clinic = await aClinicWithQueue();
    const rows = invitesOf(150);
    const { id, messages } = await clinic.bulkInvite(rows);
    const result = await consumeWith(aDatabaseForPortions(2), messages);
    expect(result).toEqual({ acked: [], retried: idsOf(messages), delays: [expect.any(Number)] });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", created_count: 100 });
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 150 });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("never throws, and changes nothing if everything fails", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(150));
    const before = await everyRowAsText();
    for (const faults of [always("not made"), AT_THE_WRITE("not made")]) {
      const result = await consumeWith(aDatabaseWith(faults), messages);
      expect(result).toMatchObject({ acked: [], retried: idsOf(messages) });
    }
    expect(await everyRowAsText()).toEqual(before);
  });

  it("never throws, even if a setting is missing", async () => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(60));
    const misconfigured = workerWith({ INVITE_TOKEN_SECRET: undefined });
    expect(await misconfigured.consume(messages)).toMatchObject({ acked: [], retried: idsOf(messages) });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
  });

  it("waits longer before each retry", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(1));
    const waits = [];
    for (const attempts of [1, 2, 3, 4]) {
      const again = messages.map((message) => ({ ...message, attempts }));
      waits.push(...(await consumeWith(aDatabaseWith(always("not made")), again)).delays);
    }
    const [first = 0, second = 0, third = 0, fourth = 0] = waits;
    expect(waits).toHaveLength(4);
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    expect(third).toBeGreaterThan(second);
    expect(fourth).toBeGreaterThan(third);
    expect(fourth).toBeLessThan(12 * 3600);
  });

  it("does nothing the second time, even if the first response was lost", async () => {
    const clinic = await aClinicWithQueue();
    const { email } = await clinic.addProvider();
    const { id, messages } = await clinic.bulkInvite([...invitesOf(3), anInvite({ email })]);
    const lost = await consumeWith(aDatabaseWith(AT_THE_WRITE("answer lost")), messages);
    expect(lost).toMatchObject({ acked: [], retried: idsOf(messages) });
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 3,
      failed_count: 1,
    });
    const again = messages.map((message) => ({ ...message, attempts: 2 }));
    const result = await changingNothing(() => clinic.consume(again));
    expect(result.acked).toEqual(idsOf(messages));
  });

  it("does nothing the second time, even if an invite was deleted in the meantime", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(2));
    await clinic.consume(messages);
    const [removed] = await clinic.pendingInvites();
    expect(await clinic.client.delete(`/invites/${removed.id}`)).toMatchObject({ status: 204 });
    await changingNothing(() => clinic.consume(messages));
    expect(await clinic.pendingInvites()).toHaveLength(1);
  });

  it("processes each row once, even with several consumers at once", async () => {
    const clinic = await aClinicWithQueue();
    const { email } = await clinic.addProvider();
    const rows = [...invitesOf(120), anInvite({ email })];
    const { id } = await clinic.bulkInvite(rows);
    await Promise.all(Array.from({ length: 8 }, () => clinic.consume([aMessage(WAKE_UP)])));
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 120,
      failed_count: 1,
    });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows.slice(0, 120)));
    const { events } = await given(clinic.client.get("/events?type=bulk_invite.completed"));
    expect(events).toHaveLength(1);
  });

  it.each([
    ["nothing", null],
    ["text", "bulk_invites/1"],
    ["an empty object", {}],
    ["a list", []],
    ["a schema of the future", { schema: "bulk_invites/2" }],
  ])("acknowledges an unknown message, and does nothing: %s", async (_, body) => {
    const clinic = await aClinicWithQueue();
    await clinic.bulkInvite(invitesOf(1));
    const message = aMessage(body);
    // A second environment has its own queue.
    for (const queue of [QUEUE, `${QUEUE}-staging`]) {
      const result = await changingNothing(() => clinic.consume([message], queue));
      expect(result).toMatchObject({ acked: [message.id], retried: [] });
    }
  });

  it("gives invites the validity that the operator has set", async () => {
    const clinic = await aClinicWithQueue({ INVITE_VALIDITY_DAYS: "30" });
    const { messages } = await clinic.bulkInvite(invitesOf(1));
    await clinic.consume(messages);
    const [{ expires_at, created_at }] = await clinic.pendingInvites();
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 86_400_000);
  });
});

it("A bulk invite and single invites of the same people at the same time invite each person once", async () => {
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(150);
  const { id, messages } = await clinic.bulkInvite(rows);
  const invite = async ({ email }: { email: string }) =>
    (await clinic.client.post("/invites", { organization_invite: anInvite({ email }) })).status;
  // The single invites begin with the last row, the portions with the first.
  const [waiting, statuses]: [typeof rows, number[]] = [rows.toReversed(), []];
  let consumed: Promise<unknown> = Promise.resolve();
  const inviting = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (statuses.push(await invite(next)) === 15) consumed = clinic.consume(messages);
  };
  await Promise.all(Array.from({ length: 5 }, inviting));
  await consumed;
  expect(statuses).toHaveLength(150);
  const single = statuses.filter((status) => status === 201).length;
  expect(statuses.filter((status) => status === 422)).toHaveLength(150 - single);

  const progress = await clinic.progressOf({ id });
  expect(progress).toMatchObject({ status: "completed", created_count: 150 - single, failed_count: single });
  const made = await clinic.pendingInvites();
  const refused = new Map(made.map((each) => [each.email, rowHasPendingInvite(each)]));
  for (const { email, error } of progress.failures) expect(error).toBe(refused.get(email));
  expect(emailsOf(made)).toEqual(emailsOf(rows));
  // Otherwise the two did not run at the same time.
  expect(single).toBeGreaterThan(0);
  expect(single).toBeLessThan(150);
});

describe("The pending rows of a small organization", () => {
  it("are processed in the next round, even if another organization has many", async () => {
    const [small, large] = [await aClinicWithQueue(), await anOrganization()];
    leavingNoInvites(large);
    await insertBulkInvites(large, 20, 1000, Date.now());
    const { id, messages } = await small.bulkInvite(invitesOf(10));
    const result = await consumeWith(aDatabaseForPortions(2), messages);
    expect(result.retried).toEqual(idsOf(messages));
    expect(await small.progressOf({ id })).toMatchObject({ status: "completed", created_count: 10 });
  });
});

/** Makes D1 refuse every invite for this email until `lift` is called or the test ends. */
async function aPoisonedEmail(email: string) {
  const lift = async () => {
    await env.DB.prepare("drop trigger if exists poison").run();
  };
  onTestFinished(lift);
  await env.DB.prepare(
    `create trigger poison before insert on invites when new.email = '${email}'
     begin select raise(abort, 'poison'); end`,
  ).run();
  return { lift };
}

const POISONED_ROW = 53;

/** A bulk invite of 150 rows, one of which D1 refuses. It stops the clock: time passes only when the test says so. */
async function aPoisonedRequest() {
  travelTo(fromNow(0));
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(150);
  const request = await clinic.bulkInvite(rows);
  clinic.queue.take();
  const { lift } = await aPoisonedEmail(rows[POISONED_ROW]?.email ?? "");
  /** Delivers messages when they are due, until none is left or `times` are delivered. Returns their delays, in seconds. */
  async function deliver(times = Number.POSITIVE_INFINITY) {
    const pauses: number[] = [];
    for (let next = clinic.queue.sent.shift(); next; next = clinic.queue.sent.shift()) {
      pauses.push(next.delay);
      travelTo(fromNow(next.delay / 60));
      await clinic.consume([aMessage(next.body)]);
      if (pauses.length === times) break;
    }
    return pauses;
  }
  return { ...request, clinic, rows, lift, deliver };
}

describe("A row that the database refuses", () => {
  it("is retried with its portion at growing intervals, then by itself, and only it fails", async () => {
    const { clinic, id, rows, messages, deliver } = await aPoisonedRequest();
    await clinic.consume(messages);
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", created_count: 50 });
    // The messages for the remaining rows follow without a pause.
    const pauses = (await deliver()).filter((pause) => pause > 0);
    expect(pauses).toHaveLength(BULK_INVITE_FAULTS);
    for (const [n, pause] of pauses.slice(1).entries()) expect(pause).toBeGreaterThan(pauses[n] ?? 0);
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 149,
      failures: [{ row: POISONED_ROW, email: rows[POISONED_ROW]?.email, error: COULD_NOT_BE_MADE }],
    });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(
      emailsOf(rows.filter((_, row) => row !== POISONED_ROW)),
    );
  });

  it("is not retried early, and delays neither other requests nor other organizations", async () => {
    const { clinic, id, messages } = await aPoisonedRequest();
    await clinic.consume(messages);
    await changingNothing(async () => {
      travelTo(fromNow(-60));
      await clinic.consume(messages);
    });
    const other = await aClinicWithQueue();
    const others = [await clinic.bulkInvite(invitesOf(60)), await other.bulkInvite(invitesOf(60))] as const;
    await clinic.consume(messages);
    expect(await clinic.progressOf(others[0])).toMatchObject({ status: "completed", created_count: 60 });
    expect(await other.progressOf(others[1])).toMatchObject({ status: "completed", created_count: 60 });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
  });

  it("succeeds if the cause is gone in time", async () => {
    const { clinic, id, rows, messages, lift, deliver } = await aPoisonedRequest();
    await clinic.consume(messages);
    await deliver(BULK_INVITE_FAULTS - 1);
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
    await lift();
    await deliver();
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 150,
      failed_count: 0,
    });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("is retried even if every message is lost, because the cron sends others", async () => {
    const { clinic, id, messages } = await aPoisonedRequest();
    await clinic.consume(messages);
    let runs = 0;
    while ((await clinic.progressOf({ id })).status === "pending") {
      clinic.queue.take();
      travelTo(fromNow(5));
      await clinic.runCron();
      for (const { body } of clinic.queue.sent.splice(0)) await clinic.consume([aMessage(body)]);
      expect(++runs).toBeLessThan(20);
    }
    expect(await clinic.progressOf({ id })).toMatchObject({ created_count: 149, failed_count: 1 });
  });

  it("stays failed, whatever is delivered later, and can be invited again once the cause is gone", async () => {
    const { clinic, rows, messages, lift, deliver } = await aPoisonedRequest();
    await clinic.consume(messages);
    await deliver();
    await lift();
    await changingNothing(() => clinic.consume(messages));
    const again = await clinic.bulkInvite(rows.slice(POISONED_ROW, POISONED_ROW + 1));
    await clinic.consume(again.messages);
    expect(await clinic.progressOf(again)).toMatchObject({ status: "completed", created_count: 1 });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("is marked as failed later if D1 fails at that moment", async () => {
    const { clinic, id, messages, deliver } = await aPoisonedRequest();
    await clinic.consume(messages);
    await deliver(BULK_INVITE_FAULTS - 1);
    const [next] = clinic.queue.take();
    travelTo(fromNow(60));
    const failing = observedDatabase({
      bind: (values) => {
        if (values.includes(COULD_NOT_BE_MADE)) throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    expect(await consumeWith(failing, next ? [next] : [])).toMatchObject({ acked: [], retried: [next?.id] });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
    await clinic.consume(messages);
    await deliver();
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", failed_count: 1 });
  });

  it("is logged with ids, and without personal data", async () => {
    const { clinic, rows, messages, id, deliver } = await aPoisonedRequest();
    const logs = [vi.spyOn(console, "log"), vi.spyOn(console, "error")].map((log) => log.mockReturnValue());
    onTestFinished(() => {
      for (const log of logs) log.mockRestore();
    });
    await clinic.consume([...messages, aMessage({ email: rows[0]?.email })]);
    await deliver();
    const lines = logs.flatMap((log) => log.mock.calls.map((line) => line.join(" ")));
    expect(lines).toContain(
      JSON.stringify({ event: "bulk_invite_row_failed", bulk_invite_id: id, row: POISONED_ROW }),
    );
    expect(lines.filter((line) => line.startsWith(`{"event":"fault","bulk_invite_id":${id},`))).toHaveLength(
      BULK_INVITE_FAULTS + 1,
    );
    const logged = lines.join("\n");
    for (const { email, display_name } of rows) {
      expect(logged).not.toContain(email);
      expect(logged).not.toMatch(new RegExp(`${display_name}\\b`));
    }
  });
});

describe("A bulk invite whose message is lost", () => {
  it("is found by each run of the cron, which sends a message until it is done", async () => {
    const clinic = await aClinicWithQueue();
    clinic.queue.isDown = true;
    const { id } = await clinic.bulkInvite(invitesOf(120));
    await clinic.runCron();
    clinic.queue.isDown = false;
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending" });
    for (let run = 1; run <= 2; run++) {
      await clinic.runCron();
      expect(clinic.queue.sent).toHaveLength(run);
    }
    for (const message of clinic.queue.take()) await clinic.consume([message]);
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 120 });
    await clinic.runCron();
    expect(clinic.queue.sent).toEqual([]);
  });
});
