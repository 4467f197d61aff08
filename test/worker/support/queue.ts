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

export const EARLIER_ROW = "The email is in an earlier row of the request";
export const HAS_ACCOUNT =
  "The email has an account in the organization: change that organization user instead";
export const rowHasPendingInvite = (invite: { id: number }) => `The email ${hasPendingInvite(invite)}`;
export const rowHasExpiredInvite = (invite: ExpiringInvite) => `The email ${hasExpiredInvite(invite)}`;

export const invitesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => anInvite({ display_name: `Invitee ${n}` }));

export interface Message {
  id: string;
  body: unknown;
  /** The number of deliveries, including this one. */
  attempts: number;
}

export const aMessage = (body: unknown, attempts = 1): Message => ({ id: unique("message"), body, attempts });

/** The body of a message for a bulk invite. */
export const ofBulkInvite = ({ id }: { id: number }) => ({ schema: "bulk_invites/1", bulk_invite_id: id });

/** A queue that delivers nothing by itself: the test takes the messages and delivers them as it likes. */
export function aQueue() {
  const queue = {
    /** The bodies that were sent, each with its delay in seconds. */
    sent: [] as { body: unknown; delay: number }[],
    isDown: false,
    binding: {
      async send(body: unknown, { delaySeconds = 0 } = {}) {
        if (queue.isDown) throw new Error("Queue send failed: Internal Server Error");
        queue.sent.push({ body: withoutShard(structuredClone(body)), delay: delaySeconds });
      },
      async sendBatch(messages: { body: unknown }[]) {
        for (const { body } of messages) await queue.binding.send(body);
      },
    } as unknown as Queue,
    take: (): Message[] => queue.sent.splice(0).map(({ body }) => aMessage(body)),
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
      // The result of getQueueResult does not contain the delays.
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
 * The rows that a cron run reads with nothing to do: some for each organization that other tests have made. The reads for a
 * test's own rows are the difference to this number.
 */
export async function rowsReadForNothing(): Promise<number> {
  const counting = countingRows();
  const { runCron } = workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding });
  // The first runs finish the work that other tests left.
  await runCron();
  await runCron();
  return (await counting.during(() => runCron())).rows_read;
}

/** Deletes the invites when the test ends, because many would slow down `everyRow`, and pending ones the cron. */
export const leavingNoInvites = ({ id }: { id: number }) =>
  leavingNoRows(id, "bulk_invite_rows", "bulk_invites", "invites");

/**
 * An organization whose bulk invites go to a Worker with these bindings, through a queue that the test delivers.
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
    /** Sends a bulk invite, and returns a message for it. */
    async bulkInvite(organization_invites: object[]) {
      const { bulk_invite } = await given(client.post("/invites/bulk_create", { organization_invites }));
      return { id: bulk_invite.id as number, bulk_invite, messages: [aMessage(ofBulkInvite(bulk_invite))] };
    },
    progressOf: async ({ id }: { id: number }) =>
      (await given(client.get(`/bulk_invites/${id}`))).bulk_invite,
    /** All invites that can be accepted, from every page. */
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
