import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { everyRowAsText } from "../support/database.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anInvite } from "../support/organization.ts";
import {
  aClinicWithQueue,
  aMessage,
  aQueue,
  invitesOf,
  type Message,
  QUEUE,
  rowHasPendingInvite,
  workerWith,
} from "../support/queue.ts";
import { changingNothing } from "../support/unchanged.ts";

const idsOf = (messages: Message[]) => messages.map(({ id }) => id);

const emailsOf = (invites: { email: string }[]) => invites.map(({ email }) => email).sort();

describe("The consumer of bulk invites", () => {
  it("retries its message after growing pauses if D1 fails, and has then changed nothing", async () => {
    const clinic = await aClinicWithQueue();
    const { messages } = await clinic.bulkInvite(invitesOf(150));
    const before = await everyRowAsText();
    const pauses = [];
    // The write is the third round trip: the consumer first reads whether it is quiet, then the rows.
    for (const [n, trip] of [1, 3].entries()) {
      let trips = 0;
      const DB = observedDatabase({
        query: async (run) => {
          if (++trips === trip) throw new Error("D1_ERROR: Network connection lost.");
          return run();
        },
      });
      const failing = workerWith({ DB, BULK_INVITES: aQueue().binding });
      const again = messages.map((message) => ({ ...message, attempts: 1 + 2 * n }));
      const { delays, ...result } = await failing.consume(again);
      expect(result).toEqual({ acked: [], retried: idsOf(messages) });
      pauses.push(...delays);
    }
    expect(await everyRowAsText()).toEqual(before);
    expect(pauses[0]).toBeGreaterThan(0);
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0);
  });

  it("never throws, even if a setting is missing", async () => {
    const clinic = await aClinicWithQueue();
    const { id, messages } = await clinic.bulkInvite(invitesOf(2));
    const misconfigured = workerWith({ INVITE_TOKEN_SECRET: undefined });
    expect(await misconfigured.consume(messages)).toMatchObject({ acked: [], retried: idsOf(messages) });
    expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", failed_count: 0 });
  });

  it("acknowledges unknown messages, and does nothing", async () => {
    const clinic = await aClinicWithQueue();
    await clinic.bulkInvite(invitesOf(1));
    const unknown = { schema: "bulk_invites/2", bulk_invite_id: 1 };
    const bodies = [null, "bulk_invites/1", [], { schema: "bulk_invites/1" }, unknown];
    const messages = bodies.map((body) => aMessage(body));
    // A second environment has its own queue.
    for (const queue of [QUEUE, `${QUEUE}-staging`]) {
      const result = await changingNothing(() => clinic.consume(messages, queue));
      expect(result).toMatchObject({ acked: idsOf(messages), retried: [] });
    }
  });
});

it("A bulk invite and single invites of the same people at the same time invite each person once", async () => {
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(60);
  const { id, messages } = await clinic.bulkInvite(rows);
  const invite = async ({ email }: { email: string }) =>
    (await clinic.client.post("/invites", { organization_invite: anInvite({ email }) })).status;
  const [waiting, statuses]: [typeof rows, number[]] = [[...rows], []];
  let consumed: ReturnType<typeof clinic.consume> | undefined;
  const inviting = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      if (statuses.push(await invite(next)) === 10) consumed = clinic.consume(messages);
  };
  await Promise.all(Array.from({ length: 3 }, inviting));
  if ((await consumed)?.retried.length !== 0) await clinic.consume(messages);
  const single = statuses.filter((status) => status === 201).length;
  expect(statuses.filter((status) => status === 422)).toHaveLength(60 - single);

  const progress = await clinic.progressOf({ id });
  expect(progress).toMatchObject({ status: "completed", created_count: 60 - single, failed_count: single });
  const made = await clinic.pendingInvites();
  const refused = new Map(made.map((each) => [each.email, rowHasPendingInvite(each)]));
  for (const { email, error } of progress.failures) expect(error).toBe(refused.get(email));
  expect(emailsOf(made)).toEqual(emailsOf(rows));
  // Otherwise the two did not run at the same time.
  expect(single).toBeGreaterThanOrEqual(10);
});

it("A bulk invite with a row that the database refuses is retried until the cause is gone, and delays no other", async () => {
  const clinic = await aClinicWithQueue();
  const rows = invitesOf(60);
  const { id, messages } = await clinic.bulkInvite(rows);
  const lift = async () => {
    await env.DB.prepare("drop trigger if exists poison").run();
  };
  onTestFinished(lift);
  await env.DB.prepare(
    `create trigger poison before insert on invites when new.email = '${rows[53]?.email}'
     begin select raise(abort, 'poison'); end`,
  ).run();
  const logs = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  onTestFinished(() => {
    for (const log of logs) log.mockRestore();
  });
  expect(await clinic.consume(messages)).toMatchObject({ acked: [], retried: idsOf(messages) });
  const lines = logs.flatMap((log) => log.mock.calls.map((line) => line.join(" ")));
  expect(lines.filter((line) => line.startsWith(`{"event":"fault","bulk_invite_id":${id},`))).toHaveLength(1);
  const logged = lines.join("\n");
  for (const { email, display_name } of rows)
    expect(logged).not.toMatch(new RegExp(`${email}|${display_name}\\b`));

  const other = await clinic.bulkInvite(invitesOf(60));
  await clinic.consume(other.messages);
  expect(await clinic.progressOf(other)).toMatchObject({ status: "completed", created_count: 60 });
  expect(await clinic.progressOf({ id })).toMatchObject({ status: "pending", created_count: 0 });
  clinic.queue.take();
  await lift();
  await clinic.runCron();
  for (const message of clinic.queue.take()) await clinic.consume([message]);
  expect(await clinic.progressOf({ id })).toMatchObject({ status: "completed", created_count: 60 });
});
