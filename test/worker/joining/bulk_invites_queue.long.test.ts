import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { insertBulkInvites } from "../support/backlogs.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anInvite, anOrganization, type Organization } from "../support/organization.ts";
import {
  aClinicWithQueue,
  aMessage,
  EARLIER_ROW,
  HAS_ACCOUNT,
  invitesOf,
  leavingNoInvites,
  type Message,
  rowHasExpiredInvite,
  rowHasPendingInvite,
  WAKE_UP,
  workerWith,
} from "../support/queue.ts";
import { fromNow, travelTo } from "../support/time.ts";

/** Fewer attempts than in wrangler.toml, so that more messages are lost. */
const ATTEMPTS = 2;

const COULD_NOT_BE_MADE = "The invite could not be created; please invite this person again";

const idsOf = (messages: Message[]) => messages.map(({ id }) => id);

const emailsOf = (invites: { email: string }[]) => invites.map(({ email }) => email).sort();

describe("The consumer of bulk invites, with random faults and deliveries,", () => {
  /** Counts the events that the random stories must include to prove anything. */
  const happened = { faults: 0, refusals: 0, deaths: 0, retries: 0, losses: 0, duplicates: 0, crons: 0 };

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

  /** Expects rows that are done to stay done, and to be done once. */
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

  /** A clinic and 200 rows, with the reasons for which some of them cannot become invites. */
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
    const { queue } = clinic;
    const oneIn = (n: number) => below(n) === 0;
    let isCalm = false;

    /** A consumer whose D1 has faults. It may die: nothing that it does after that has an effect. */
    function aConsumer(mayDie: boolean) {
      let tripsLeft = mayDie && oneIn(3) ? below(12) : Number.POSITIVE_INFINITY;
      const DB = observedDatabase({
        query: async (run) => {
          if (tripsLeft-- <= 0) throw new Error("The Worker was killed");
          const fault =
            isCalm || oneIn(2) ? undefined : (["not made", "answer lost", "refused"] as const)[below(3)];
          if (fault) happened[fault === "refused" ? "refusals" : "faults"]++;
          if (fault === "not made") throw new Error("D1_ERROR: Network connection lost.");
          if (fault === "refused") throw new Error("D1_ERROR: constraint failed");
          const result = await run();
          if (fault === "answer lost") throw new Error("D1_ERROR: Network connection lost.");
          return result;
        },
      });
      const send = async (...sent: Parameters<Queue["send"]>) => {
        if (tripsLeft > 0) await queue.binding.send(...sent);
      };
      const isDead = () => tripsLeft <= 0;
      return { ...workerWith({ DB, BULK_INVITES: { send } }), isDead };
    }

    queue.isDown = oneIn(4);
    const request = await clinic.bulkInvite(rows);
    const inFlight = queue.take();

    async function runCron() {
      happened.crons++;
      queue.isDown = !isCalm && oneIn(4);
      travelTo(fromNow(6));
      await aConsumer(false).runCron();
    }

    /** Takes a random message, which may be delivered again later. */
    function draw(): Message[] {
      const [message] = inFlight.splice(below(inFlight.length || 1), 1);
      if (message && oneIn(4)) {
        happened.duplicates++;
        inFlight.push(message);
      }
      return message ? [message] : [];
    }

    async function deliver() {
      const consumer = aConsumer(!isCalm);
      for (const message of draw()) {
        const { acked, retried } = await consumer.consume([message]);
        if (consumer.isDead()) happened.deaths++;
        else expect([...acked, ...retried]).toEqual(idsOf([message]));
        if (retried.length === 0 && !consumer.isDead()) continue;
        happened.retries++;
        if (message.attempts < ATTEMPTS) inFlight.push({ ...message, attempts: message.attempts + 1 });
        else happened.losses++;
      }
    }

    for (let step = 0; ; step++) {
      isCalm = step > 80;
      const before = await stored(clinic, request);
      if (inFlight.length === 0 || oneIn(12)) await runCron();
      else await Promise.all(oneIn(3) ? [deliver(), deliver()] : [deliver()]);
      inFlight.push(...queue.take());
      const after = await stored(clinic, request);
      expectNothingUndone(before, after);
      if (after.rows.every(({ status }) => status !== "pending")) break;
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

  it("creates or fails every row once, loses no row, and invites nobody twice", async () => {
    const faults = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => faults.mockRestore());
    await fc.assert(
      fc.asyncProperty(fc.noBias(fc.gen()), (random) => tell((limit) => random(fc.nat, limit - 1))),
      { seed: 20_260_131, numRuns: 12, endOnFailure: true },
    );
    for (const times of Object.values(happened)) expect(times).toBeGreaterThan(0);
  });
});

it("Ten rows of an organization are done within seconds, amid twenty thousand of another", async () => {
  const [small, large] = [await aClinicWithQueue(), await anOrganization()];
  leavingNoInvites(large);
  await insertBulkInvites(large, 20, 1000, Date.now());
  let request: { id: number } | undefined;
  let trips = 0;
  const DB = observedDatabase({
    // The small request comes in the middle of the work.
    query: async (run) => {
      if (++trips === 500) request = await small.bulkInvite(invitesOf(10));
      return run();
    },
  });
  const consumer = workerWith({ DB, BULK_INVITES: small.queue.binding });
  let messages = 0;
  for (let next: Message | undefined = aMessage(WAKE_UP); next; [next] = small.queue.take()) {
    await consumer.consume([next]);
    messages++;
  }
  // Each message processes about two thousand rows.
  expect(messages).toBeLessThan(15);
  const { created_at, updated_at, ...progress } = await small.progressOf(request ?? { id: 0 });
  expect(progress).toMatchObject({ status: "completed", created_count: 10 });
  expect(Date.parse(updated_at) - Date.parse(created_at)).toBeLessThan(5000);
  const lastOfLarge = await env.DB.prepare(
    "select max(completed_at) as at, sum(completed_at is null) as pending from bulk_invites where organization_id = ?",
  )
    .bind(large.id)
    .first<{ at: number; pending: number }>();
  expect(lastOfLarge?.pending).toBe(0);
  expect(lastOfLarge?.at).toBeGreaterThan(Date.parse(updated_at));
});
