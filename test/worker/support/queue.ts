import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import worker from "../../../src/index.ts";
import { runCronOf } from "./cron.ts";
import { asDeployed, withoutShard, withShard } from "./deployed.ts";
import { type ExpiringInvite, hasExpiredInvite, hasPendingInvite } from "./invites.ts";
import { anInvite, anOrganization, given, unique } from "./organization.ts";
import { countingRows } from "./rows.ts";
import { leavingNoRows } from "./unchanged.ts";
import { throughWorkerWith } from "./worker.ts";

export const QUEUE = "bulk-invites";
export const DEAD_LETTERS = "bulk-invites-dead-letter";

/** Why a row of a bulk invite fails. */
export const EARLIER_ROW = "The email is in an earlier row of the request";
export const HAS_ACCOUNT = "The email has an account in the organization";
export const rowHasPendingInvite = (invite: { id: number }) => `The email ${hasPendingInvite(invite)}`;
export const rowHasExpiredInvite = (invite: ExpiringInvite) => `The email ${hasExpiredInvite(invite)}`;

export const invitesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => anInvite({ display_name: `Invitee ${n}` }));

/** A message in the queue. */
export interface Message {
  id: string;
  body: unknown;
  /** The number of deliveries, including this one. */
  attempts: number;
}

export const aMessage = (body: unknown, attempts = 1): Message => ({ id: unique("message"), body, attempts });

/** A queue that delivers nothing by itself: the test takes the messages and delivers them as it likes. */
export function aQueue() {
  const queue = {
    /** The message bodies of each send. */
    sends: [] as unknown[][],
    /** Makes every send fail. */
    isDown: false,
    binding: {
      async sendBatch(messages: Iterable<{ body: unknown }>) {
        if (queue.isDown) throw new Error("Queue sendBatch failed: Internal Server Error");
        queue.sends.push(Array.from(messages, ({ body }) => withoutShard(structuredClone(body))));
      },
      send() {
        throw new Error("Every send costs: send messages together");
      },
    } as unknown as Queue,
    /** Takes the messages that were sent for a bulk invite since the last time. */
    take({ id }: { id: number }): Message[] {
      const isOurs = (body: unknown) => (body as { bulk_invite_id?: number }).bulk_invite_id === id;
      const taken = queue.sends.flat().filter(isOurs);
      queue.sends = queue.sends.map((bodies) => bodies.filter((body) => !isOurs(body)));
      return taken.map((body) => aMessage(body));
    },
  };
  return queue;
}

/** The Worker with other bindings: its requests, its queue consumer and its cron. */
export function workerWith(bindings: object) {
  const bound = asDeployed({ ...env, ...bindings });
  return {
    fetcher: throughWorkerWith(bindings),
    /** Delivers the messages to the consumer as one batch, and returns what it did with each. */
    async consume(messages: Message[], queue = QUEUE) {
      const timestamp = Date.now();
      const batch = createMessageBatch(
        queue,
        messages.map((message) => ({ timestamp, ...message, body: withShard(message.body) })),
      );
      // The result does not contain the delays.
      const retries = batch.messages.map((message) => vi.spyOn(message, "retry"));
      const context = createExecutionContext();
      await worker.queue(batch, bound, context);
      const { explicitAcks, retryMessages, ...whole } = await getQueueResult(batch, context);
      expect(whole).toMatchObject({ ackAll: false, retryBatch: { retry: false } });
      const delays = retries.flatMap(({ mock }) => mock.calls.map(([options]) => options?.delaySeconds ?? 0));
      return { acked: explicitAcks, retried: retryMessages.map(({ msgId }) => msgId), delays };
    },
    runCron: () => runCronOf(bound),
  };
}

/**
 * The rows that a run of the cron reads for nothing: some for each organization that other tests have made. So what a
 * test's own rows add is the difference of two such numbers.
 */
export async function rowsReadForNothing(): Promise<number> {
  const counting = countingRows();
  const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
  // What there is to do for other tests is done first.
  await runCron();
  await runCron();
  return (await counting.during(() => runCron())).rows_read;
}

/** Deletes the invites when the test ends: many would slow down `everyRow`, and pending ones the cron. */
export const leavingNoInvites = ({ id }: { id: number }) =>
  leavingNoRows(id, "bulk_invite_rows", "bulk_invites", "invites");

/**
 * An organization whose bulk invites go to a queue that the test delivers, to the Worker with these bindings.
 */
export async function aClinicWithQueue(bindings: object = {}) {
  const clinic = await anOrganization();
  leavingNoInvites(clinic);
  const queue = aQueue();
  const theWorker = workerWith({ BULK_INVITES: queue.binding, ...bindings });
  const client = { ...clinic.client, ...clinic.client.through(theWorker.fetcher) };
  return {
    ...clinic,
    ...theWorker,
    client,
    queue,
    /** Requests the invites, and returns the messages to deliver. */
    async bulkInvite(organization_invites: object[]) {
      const { bulk_invite } = await given(client.post("/invites/bulk_create", { organization_invites }));
      return { id: bulk_invite.id as number, bulk_invite, messages: queue.take(bulk_invite) };
    },
    progressOf: async ({ id }: { id: number }) =>
      (await given(client.get(`/bulk_invites/${id}`))).bulk_invite,
    /** All invites of the organization that can be accepted. */
    async pendingInvites() {
      const invites = [];
      for (let page = 1, pages = 1; page <= pages; page++) {
        const listed = await given(client.get(`/invites?per_page=100&page=${page}`));
        invites.push(...listed.organization_invites);
        pages = listed.pagination.total_pages;
      }
      return invites;
    },
  };
}

export type ClinicWithQueue = Awaited<ReturnType<typeof aClinicWithQueue>>;
