import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { everyRowAsText } from "./support/database.ts";
import { aFaultyDatabase, type Fault } from "./support/faulty_database.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { anInvite, given, type Organization } from "./support/organization.ts";
import {
  aClinicWithQueue,
  aMessage,
  type ClinicWithQueue,
  DEAD_LETTERS,
  EARLIER_ROW,
  HAS_ACCOUNT,
  invitesOf,
  type Message,
  QUEUE,
  rowHasExpiredInvite,
  rowHasPendingInvite,
  workerWith,
} from "./support/queue.ts";
import { fromNow, travelTo } from "./support/time.ts";
import { changingNothing } from "./support/unchanged.ts";

/** Fewer than in wrangler.toml, so that more of the random stories meet dead letters. */
const ATTEMPTS = 2;

/** In minutes: rows of which nothing was heard for this long are queued again. */
const LOST_AFTER = 30;

const COULD_NOT_BE_MADE = "The invite could not be made; please invite this person again";

const idsOf = (messages: Message[]) => messages.map(({ id }) => id);

const rowsOf = ({ body }: Message) => body as { first_row: number; last_row: number };

const emailsOf = (invites: { email: string }[]) => invites.map(({ email }) => email).sort();

/** What the consumer does with the messages while D1 has these faults, one for each transaction: a chunk reads and writes. */
async function consumeWithFaults(
  clinic: ClinicWithQueue,
  messages: Message[],
  faults: Fault[],
  queue = QUEUE,
) {
  const upcoming = [...faults];
  const met: Fault[] = [];
  const DB = aFaultyDatabase(() => {
    const fault = upcoming.shift();
    met.push(fault);
    return fault;
  });
  const result = await workerWith({ DB, BULK_INVITES: clinic.queue.binding }).consume(messages, queue);
  expect(met).toEqual(faults);
  return result;
}

/** A database that inserts and reads, but fails for every UPDATE. */
const aDatabaseWithoutUpdates = () =>
  observedDatabase({
    prepare(text) {
      if (text.startsWith("update")) throw new Error("D1_ERROR: Network connection lost.");
    },
  });

/** D1 refuses every invite for this email until `lift` is called or the test ends. */
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

/** Three chunks of a request. The middle one has an invite that D1 refuses. */
async function aPoisonedRequest() {
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(150);
  const request = await clinic.bulkInvite(rows);
  const messages = request.messages.toSorted((one, other) => rowsOf(one).first_row - rowsOf(other).first_row);
  const [first, poisoned, last, ...others] = messages;
  if (!first || !poisoned || !last || others.length > 0)
    throw new Error("The request is not of three chunks");
  const { first_row, last_row } = rowsOf(poisoned);
  const { lift } = await aPoisonedEmail(rows[first_row + 3]?.email ?? "");
  const isPoisoned = (row: number) => row >= first_row && row <= last_row;
  return { ...request, clinic, rows, messages, poisoned, isPoisoned, lift };
}

describe("The consumer of bulk invites", () => {
  it("retries only the message that failed, and processes the others", async () => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(150));
    expect(messages).toHaveLength(3);
    const result = await consumeWithFaults(clinic, messages, [
      ...[undefined, undefined],
      ...[undefined, "not made" as const],
      ...[undefined, undefined],
    ]);
    const [first, failed, last] = idsOf(messages);
    expect(result).toEqual({ acked: [first, last], retried: [failed], delays: [expect.any(Number)] });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", created_count: 100 });
    expect(await clinic.pendingInvites()).toHaveLength(100);
  });

  it("never throws, even if everything fails", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(150));
    const before = await everyRowAsText();
    // For a dead letter, not even its rows can be failed.
    for (const [queue, faults] of [
      [QUEUE, 3],
      [DEAD_LETTERS, 6],
    ] as const) {
      const result = await consumeWithFaults(clinic, messages, Array(faults).fill("not made"), queue);
      expect(result).toMatchObject({ acked: [], retried: idsOf(messages) });
    }
    expect(await everyRowAsText()).toEqual(before);
  });

  it.each([QUEUE, DEAD_LETTERS])("never throws, even if a setting is missing: %s", async (queue) => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(60));
    const misconfigured = workerWith({ INVITE_TOKEN_SECRET: undefined });
    const result = await misconfigured.consume(messages, queue);
    expect(result).toMatchObject({ acked: [], retried: idsOf(messages) });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
  });

  it("does not retry the messages that failed together all at the same time", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(1000));
    const failed = messages.map((message) => ({ ...message, attempts: 6 }));
    const { delays } = await consumeWithFaults(clinic, failed, Array(failed.length).fill("not made"));
    expect(delays).toHaveLength(failed.length);
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) expect(delay).toBe(Math.round(delay));
  });

  it.each([QUEUE, DEAD_LETTERS])("waits longer before each attempt: %s", async (queue) => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(1));
    const faults: Fault[] = queue === QUEUE ? ["not made"] : ["not made", "not made"];
    const waits = [];
    for (const attempts of [1, 2, 3, 4]) {
      const again = messages.map((message) => ({ ...message, attempts }));
      waits.push(...(await consumeWithFaults(clinic, again, faults, queue)).delays);
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
    const lost = await consumeWithFaults(clinic, messages, [undefined, "answer lost"]);
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

  it("does nothing the second time, even if an invite was deleted meanwhile", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(2));
    await clinic.consume(messages);
    const [removed] = await clinic.pendingInvites();
    expect(await clinic.client.delete(`/invites/${removed.id}`)).toMatchObject({ status: 204 });
    await changingNothing(() => clinic.consume(messages));
    expect(await clinic.pendingInvites()).toHaveLength(1);
  });

  it.each([
    ["nothing", null],
    ["text", "bulk_invite_chunk/1"],
    ["an empty object", {}],
    ["a list", []],
    [
      "a schema of the future",
      { schema: "bulk_invite_chunk/2", bulk_invite_id: 1, first_row: 0, last_row: 999 },
    ],
    ["no schema", { bulk_invite_id: 1, first_row: 0, last_row: 999 }],
    ["no bulk invite", { schema: "bulk_invite_chunk/1", first_row: 0, last_row: 999 }],
    [
      "rows that are text",
      { schema: "bulk_invite_chunk/1", bulk_invite_id: 1, first_row: "0", last_row: "999" },
    ],
    [
      "a bulk invite that never was",
      { schema: "bulk_invite_chunk/1", bulk_invite_id: 999_999_999, first_row: 0, last_row: 49 },
    ],
  ])("acknowledges a message that is not a chunk, and does nothing: %s", async (_, body) => {
    const clinic = await aClinicWithQueue();
    await clinic.bulkInvite(invitesOf(1));
    for (const queue of [QUEUE, DEAD_LETTERS]) {
      const message = aMessage(body);
      const result = await changingNothing(() => clinic.consume([message], queue));
      expect(result).toMatchObject({ acked: [message.id], retried: [] });
    }
  });

  it("still processes the valid messages in a batch with such a message", async () => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(2));
    const batch = [aMessage(null), ...messages, aMessage({ schema: "bulk_invite_chunk/2" })];
    expect((await clinic.consume(batch)).acked).toEqual(idsOf(batch));
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 2 });
  });

  it("gives the invites the validity that the operator has set", async () => {
    const clinic = await aClinicWithQueue({ INVITE_VALIDITY_DAYS: "30" });
    const { messages } = await clinic.bulkInvite(invitesOf(1));
    await clinic.consume(messages);
    const [{ expires_at, created_at }] = await clinic.pendingInvites();
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 86_400_000);
  });
});

it("Single invites of the same people at the same time never make a second pending invite: each person is invited by one or the other", async () => {
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(150);
  const { id, messages } = await clinic.bulkInvite(rows);
  const invite = async ({ email }: { email: string }) =>
    (await clinic.client.post("/invites", { organization_invite: anInvite({ email }) })).status;
  const [waiting, statuses]: [typeof rows, number[]] = [[...rows], []];
  /** Invites one person after another, from the first; now and then a chunk is processed, the last one first. */
  const inviting = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const count = statuses.push(await invite(next));
      if (count % 30 === 15) await clinic.consume(messages.splice(-1));
    }
  };
  await Promise.all(Array.from({ length: 10 }, inviting));
  expect(messages).toEqual([]);
  expect(statuses).toHaveLength(150);
  const single = statuses.filter((status) => status === 201).length;
  expect(statuses.filter((status) => status === 422)).toHaveLength(150 - single);

  const progress = await clinic.progressOf({ id });
  expect(progress).toMatchObject({ status: "completed", created_count: 150 - single, failed_count: single });
  const made = await clinic.pendingInvites();
  const refused = new Map(made.map((each) => [each.email, rowHasPendingInvite(each)]));
  for (const { email, error } of progress.failures) expect(error).toBe(refused.get(email));
  expect(emailsOf(made)).toEqual(emailsOf(rows));
  // Otherwise the two have not met.
  expect(single).toBeGreaterThan(0);
  expect(single).toBeLessThan(150);
});

describe("A chunk that fails in every attempt", () => {
  it.each([
    DEAD_LETTERS,
    // Of a second environment.
    `${DEAD_LETTERS}-staging`,
  ])("ends in the dead-letter queue, and each of its rows says so: %s", async (deadLetters) => {
    const { clinic, id, rows, messages, poisoned, isPoisoned } = await aPoisonedRequest();
    await clinic.consume(messages);
    const result = await clinic.consume([poisoned], deadLetters);
    expect(result).toMatchObject({ acked: [poisoned.id], retried: [] });
    const progress = await clinic.progressOf({ id });
    expect(progress).toMatchObject({
      status: "completed",
      total_count: 150,
      created_count: 100,
      failed_count: 50,
    });
    expect(progress.failures).toEqual(
      rows
        .map(({ email }, row) => ({ row, email, error: COULD_NOT_BE_MADE }))
        .filter(({ row }) => isPoisoned(row)),
    );
    const others = rows.filter((_, row) => !isPoisoned(row));
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(others));
  });

  it("is tried once more as a dead letter, and succeeds if the cause is gone", async () => {
    const { clinic, id, rows, messages, poisoned, lift } = await aPoisonedRequest();
    await clinic.consume(messages);
    await lift();
    const result = await clinic.consume([poisoned], DEAD_LETTERS);
    expect(result).toMatchObject({ acked: [poisoned.id], retried: [] });
    expect(await clinic.progressOf({ id })).toMatchObject({
      status: "completed",
      created_count: 150,
      failed_count: 0,
    });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("stays failed, whatever is delivered after the dead letter", async () => {
    const { clinic, messages, poisoned, lift } = await aPoisonedRequest();
    await clinic.consume(messages);
    await clinic.consume([poisoned], DEAD_LETTERS);
    await lift();
    const result = await changingNothing(() => clinic.consume(messages));
    expect(result.acked).toEqual(idsOf(messages));
    await changingNothing(() => clinic.consume([poisoned], DEAD_LETTERS));
  });

  it("does not fail rows that were done before", async () => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(3));
    await clinic.consume(messages);
    const before = await clinic.progressOf({ id });
    await changingNothing(() => clinic.consume(messages, DEAD_LETTERS));
    expect(await clinic.progressOf({ id })).toEqual(before);
    expect(await clinic.pendingInvites()).toHaveLength(3);
  });

  it("is marked as failed later if that is not possible now", async () => {
    const { clinic, id, messages, poisoned } = await aPoisonedRequest();
    await clinic.consume(messages);
    const refused = await consumeWithFaults(clinic, [poisoned], ["not made", "not made"], DEAD_LETTERS);
    expect(refused).toMatchObject({ acked: [], retried: [poisoned.id] });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
    await clinic.consume([poisoned], DEAD_LETTERS);
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", failed_count: 50 });
  });

  it("can be sent again when the cause is gone", async () => {
    const { clinic, rows, messages, poisoned, isPoisoned, lift } = await aPoisonedRequest();
    await clinic.consume(messages);
    await clinic.consume([poisoned], DEAD_LETTERS);
    await lift();
    const again = await clinic.bulkInvite(rows.filter((_, row) => isPoisoned(row)));
    await clinic.consume(again.messages);
    expect(await clinic.progressOf(again)).toMatchObject({ status: "completed", created_count: 50 });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("is logged with its ids and without personal data", async () => {
    const { clinic, rows, messages, poisoned, id } = await aPoisonedRequest();
    const logs = [vi.spyOn(console, "log"), vi.spyOn(console, "error")].map((log) => log.mockReturnValue());
    onTestFinished(() => {
      for (const log of logs) log.mockRestore();
    });
    await clinic.consume([...messages, aMessage({ email: rows[0]?.email })]);
    await clinic.consume([poisoned], DEAD_LETTERS);
    const lines = logs.flatMap((log) => log.mock.calls.map((line) => line.join(" ")));
    const { first_row, last_row } = rowsOf(poisoned);
    expect(lines.some((line) => line.includes(`"bulk_invite_id":${id}`))).toBe(true);
    expect(lines.some((line) => line.includes(`"first_row":${first_row},"last_row":${last_row}`))).toBe(true);
    expect(lines.some((line) => line.includes(poisoned.id))).toBe(true);
    const logged = lines.join("\n");
    for (const { email, display_name } of rows) {
      expect(logged).not.toContain(email);
      expect(logged).not.toMatch(new RegExp(`${display_name}\\b`));
    }
  });
});

/** The messages of this request that the cron sends, a number of minutes from now. */
async function sentByCron({ clinic, id }: { clinic: ClinicWithQueue; id: number }, minutes: number) {
  travelTo(fromNow(minutes));
  await clinic.runCron();
  return clinic.queue.take({ id });
}

describe("A bulk invite that the queue does not accept", () => {
  /** It is stored but not sent. From now on, time passes only when the test says so. */
  async function aLostRequest(rows = invitesOf(120)) {
    travelTo(fromNow(0));
    const clinic = await aClinicWithQueue();
    clinic.queue.isDown = true;
    const answer = await clinic.client.post("/invites/bulk_create", { organization_invites: rows });
    clinic.queue.isDown = false;
    return { clinic, rows, answer, id: answer.body.bulk_invite.id as number };
  }

  it("is sent by only one of two crons that run at the same time", async () => {
    const { clinic, id } = await aLostRequest();
    await Promise.all([clinic.runCron(), clinic.runCron()]);
    const named = clinic.queue.take({ id }).map((message) => rowsOf(message).first_row);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named).size).toBe(named.length);
  });

  it("is sent by the first cron that finds the queue well again", async () => {
    const request = await aLostRequest();
    const { clinic, id, rows } = request;
    clinic.queue.isDown = true;
    for (let run = 1; run <= 3; run++) expect(await sentByCron(request, 5)).toEqual([]);
    clinic.queue.isDown = false;
    await clinic.consume(await sentByCron(request, 5));
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 120 });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
  });

  it("is sent only later if the database fails with the queue", async () => {
    travelTo(fromNow(0));
    const clinic = await aClinicWithQueue();
    clinic.queue.isDown = true;
    // The insert succeeds. What comes after the failed send does not.
    const { fetcher } = workerWith({ DB: aDatabaseWithoutUpdates(), BULK_INVITES: clinic.queue.binding });
    const { bulk_invite } = await given(
      clinic.client.through(fetcher).post("/invites/bulk_create", { organization_invites: invitesOf(2) }),
    );
    clinic.queue.isDown = false;
    expect(await sentByCron({ clinic, id: bulk_invite.id }, 0)).toEqual([]);
    expect(await sentByCron({ clinic, id: bulk_invite.id }, LOST_AFTER + 1)).toHaveLength(1);
  });
});

describe("A bulk invite of which a message was lost", () => {
  /** Three chunks were sent, and two of them delivered. From now on, time passes only when the test says so. */
  async function aRequestWithALostMessage() {
    travelTo(fromNow(0));
    const clinic = await aClinicWithQueue();
    const rows = invitesOf(150);
    const { id, messages } = await clinic.bulkInvite(rows);
    await clinic.consume(messages.slice(1));
    return { clinic, rows, id };
  }

  it("is not sent again while its messages may still be retried", async () => {
    const request = await aRequestWithALostMessage();
    for (const minutes of [0, 12, LOST_AFTER - 12]) expect(await sentByCron(request, minutes)).toEqual([]);
    expect(await sentByCron(request, 0.002)).not.toEqual([]);
  });

  it("is sent again from time to time until it is done", async () => {
    const request = await aRequestWithALostMessage();
    const { clinic, rows, id } = request;
    const first = await sentByCron(request, LOST_AFTER + 1);
    expect(first.length).toBeGreaterThan(0);
    expect(await sentByCron(request, 0)).toEqual([]);
    expect(await sentByCron(request, LOST_AFTER)).toEqual([]);
    const second = await sentByCron(request, 1);
    expect(second.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
    await Promise.all([...first, ...second].map((message) => clinic.consume([message])));
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 150 });
    expect(emailsOf(await clinic.pendingInvites())).toEqual(emailsOf(rows));
    expect(await sentByCron(request, 1000)).toEqual([]);
  });
});

describe("Whatever fails, and in whatever order and however often messages come,", () => {
  /** Counts the events that make the random stories worth running. */
  const happened = { faults: 0, retries: 0, deadLetters: 0, losses: 0, duplicates: 0, crons: 0 };

  interface InFlight extends Message {
    queue: string;
  }

  /** What the database has of a request and of the organization's invites. */
  async function stored({ id: organization_id }: Organization, { id }: { id: number }) {
    const [rows, invites] = await env.DB.batch<Record<string, unknown>>([
      env.DB.prepare("select row, email, status, error from bulk_invite_rows where bulk_invite_id = ?").bind(
        id,
      ),
      env.DB.prepare("select * from invites where organization_id = ?").bind(organization_id),
    ]);
    return { rows: rows?.results ?? [], invites: invites?.results ?? [] };
  }

  type Stored = Awaited<ReturnType<typeof stored>>;

  /** Checks that what is done stays done, and is done once. */
  function expectNothingUndone(before: Stored, after: Stored) {
    const done = before.rows.filter(({ status }) => status !== "pending");
    expect(after.rows).toEqual(expect.arrayContaining(done));
    const created = after.rows.filter(({ status }) => status === "created").map(({ email }) => email);
    const unused = after.invites.filter((it) => it.used_at === null).map(({ email }) => email);
    expect(new Set(unused).size).toBe(unused.length);
    expect(new Set(created).size).toBe(created.length);
    expect(unused).toEqual(expect.arrayContaining(created));
    const invitesOfDone = before.invites.filter(({ email }) => done.some((row) => row.email === email));
    expect(after.invites).toEqual(expect.arrayContaining(invitesOfDone));
  }

  /** Two hundred rows. Some of them cannot become invites, each with its reason. */
  async function aStory() {
    const clinic = await aClinicWithQueue();
    const [expired, stale] = [await clinic.addInvite(), await clinic.addInvite()];
    travelTo(fromNow(8 * 24 * 60));
    const [pending, member] = [await clinic.addInvite(), await clinic.addProvider()];
    const rows = invitesOf(200);
    const reasons = new Map<number, string>();
    const put = (row: number, email = "", reason?: string) => {
      rows[row] = anInvite({ email, display_name: `Invitee ${row}` });
      if (reason) reasons.set(row, reason);
    };
    put(3, expired.email, rowHasExpiredInvite(expired));
    put(20, pending.email, rowHasPendingInvite(pending));
    put(77, member.email, HAS_ACCOUNT);
    put(101, rows[4]?.email.toUpperCase(), EARLIER_ROW);
    put(150, stale.email, rowHasExpiredInvite(stale));
    put(151, stale.email, EARLIER_ROW);
    put(199, rows[4]?.email, EARLIER_ROW);
    return { clinic, rows, reasons, pending };
  }

  async function tell(below: (limit: number) => number) {
    const { clinic, rows, reasons, pending } = await aStory();
    const oneIn = (n: number) => below(n) === 0;
    let isCalm = false;
    const DB = aFaultyDatabase(() => {
      if (isCalm || oneIn(3)) return undefined;
      happened.faults++;
      return oneIn(2) ? "not made" : "answer lost";
    });
    const consumer = workerWith({ DB, BULK_INVITES: clinic.queue.binding });

    clinic.queue.isDown = oneIn(4);
    const request = await clinic.bulkInvite(rows);
    const inFlight: InFlight[] = [];
    const send = (messages: Message[], queue = QUEUE) =>
      inFlight.push(...messages.map((message) => ({ ...message, queue })));
    send(request.messages);

    async function runCron() {
      happened.crons++;
      clinic.queue.isDown = !isCalm && oneIn(4);
      travelTo(fromNow(LOST_AFTER + 1));
      await consumer.runCron().catch(() => undefined);
      send(clinic.queue.take(request));
    }

    /** Some messages of one of the queues, in any order, some of them more than once. */
    function draw() {
      const queue = inFlight[below(inFlight.length || 1)]?.queue;
      const batch: InFlight[] = [];
      for (let size = 1 + below(4); size > 0; size--) {
        const choice = inFlight.filter((message) => message.queue === queue && !batch.includes(message));
        if (choice.length === 0) break;
        const message = choice[below(choice.length)] as InFlight;
        batch.push(message);
        if (oneIn(4)) happened.duplicates++;
        else inFlight.splice(inFlight.indexOf(message), 1);
      }
      return { queue, batch };
    }

    async function deliver() {
      const { queue, batch } = draw();
      const { acked, retried } = await consumer.consume(batch, queue);
      expect([...acked, ...retried].toSorted()).toEqual(idsOf(batch).toSorted());
      for (const message of batch.filter(({ id }) => retried.includes(id))) {
        happened.retries++;
        if (message.attempts < ATTEMPTS) send([{ ...message, attempts: message.attempts + 1 }], queue);
        else if (queue === QUEUE) {
          happened.deadLetters++;
          send([aMessage(message.body)], DEAD_LETTERS);
        } else happened.losses++;
      }
    }

    for (let step = 0; ; step++) {
      isCalm = step > 60;
      const before = await stored(clinic, request);
      if (inFlight.length === 0 || oneIn(12)) await runCron();
      else await Promise.all(oneIn(3) ? [deliver(), deliver()] : [deliver()]);
      const after = await stored(clinic, request);
      expectNothingUndone(before, after);
      if (inFlight.length === 0 && after.rows.every(({ status }) => status !== "pending")) break;
      expect(step).toBeLessThan(200);
    }

    const progress = await clinic.progressOf(request);
    expect(progress).toMatchObject({ status: "completed", total_count: rows.length });
    expect(progress.created_count + progress.failed_count).toBe(rows.length);
    expect(progress.failures).toHaveLength(progress.failed_count);
    const failed = new Map(progress.failures.map(({ row, error }: Record<string, unknown>) => [row, error]));
    for (const [row, error] of failed) expect([COULD_NOT_BE_MADE, reasons.get(Number(row))]).toContain(error);
    for (const row of reasons.keys()) expect(failed.has(row)).toBe(true);

    const created = rows.filter((_, row) => !failed.has(row));
    expect(created).toHaveLength(progress.created_count);
    const invites = await clinic.pendingInvites();
    expect(emailsOf(invites)).toEqual(emailsOf([pending, ...created]));
    const names = invites.map(({ display_name }) => display_name);
    expect(names.toSorted()).toEqual(
      [pending, ...created].map(({ display_name }) => display_name).toSorted(),
    );
  }

  it("every row is created or failed once, no row is lost, and nobody is invited twice", {
    timeout: 120_000,
  }, async () => {
    const faults = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => faults.mockRestore());
    await fc.assert(
      fc.asyncProperty(fc.noBias(fc.gen()), (random) => tell((limit) => random(fc.nat, limit - 1))),
      { seed: 20_260_131, numRuns: 12, endOnFailure: true },
    );
    for (const times of Object.values(happened)) expect(times).toBeGreaterThan(0);
  });
});
