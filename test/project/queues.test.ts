import { describe, expect, it, onTestFinished, vi } from "vitest";
import { unstable_readConfig } from "wrangler";
import { WEBHOOK_TIMEOUT } from "../../src/lifetimes.ts";
import { growingPause } from "../../src/pauses.ts";
import {
  BULK_INVITE_LOST_AFTER,
  MAIL_LEASE,
  MAIL_TIMEOUT,
  MAIL_TURN,
  QUEUE_RETRIES,
  WEBHOOK_LANE_TIME,
  WEBHOOK_LEASE,
} from "../../src/tuning.ts";

const MINUTE = 60;

interface Consumer {
  queue: string;
  max_retries?: number;
  retry_delay?: number;
  dead_letter_queue?: string;
}

const consumers: Consumer[] = unstable_readConfig({ config: "wrangler.toml" }).queues.consumers ?? [];

function consumerOf(queue: string) {
  const consumer = consumers.find((each) => each.queue === queue);
  if (!consumer) throw new Error(`wrangler.toml has no consumer of ${queue}`);
  const { max_retries = 0, retry_delay = 0 } = consumer;
  /** In seconds, from the first attempt of a message to its last, where chance makes each delay as short or long. */
  const spanWith = (chance: number) => {
    const random = vi.spyOn(Math, "random").mockReturnValue(chance);
    onTestFinished(() => random.mockRestore());
    const delays = Array.from({ length: max_retries }, (_, n) =>
      Math.round(growingPause(n + 1, QUEUE_RETRIES)),
    );
    return delays.reduce((sum, delay) => sum + delay, 0);
  };
  return {
    dead_letter_queue: consumer.dead_letter_queue ?? "",
    shortestSpan: () => spanWith(0),
    longestSpan: () => Math.max(spanWith(0.999), max_retries * retry_delay),
    /** If the Worker itself fails, it chooses no delays. */
    spanOfCrashes: max_retries * retry_delay,
  };
}

describe("The queue of bulk invites", () => {
  const queue = consumerOf("bulk-invites");
  const deadLetters = consumerOf(queue.dead_letter_queue);

  it("survives 10 minutes without a database", () => {
    expect(queue.shortestSpan()).toBeGreaterThanOrEqual(10 * MINUTE);
  });

  it("survives 10 minutes in which the Worker fails", () => {
    expect(queue.spanOfCrashes).toBeGreaterThanOrEqual(10 * MINUTE);
  });

  it("and its dead letters are done with a message before the cron queues its rows again", () => {
    const span = queue.longestSpan() + deadLetters.longestSpan();
    expect(span + 5 * MINUTE).toBeLessThan(BULK_INVITE_LOST_AFTER / 1000);
  });

  it("never asks for a longer delay than a queue can have", () => {
    expect(growingPause(101, QUEUE_RETRIES)).toBeLessThanOrEqual(12 * 60 * MINUTE);
  });
});

describe("The queue of webhooks", () => {
  it("does not wait for receivers, and gives each message an invocation of its own", () => {
    const { compatibility_flags } = unstable_readConfig({ config: "wrangler.toml" });
    expect(compatibility_flags).toContain("queue_consumer_no_wait_for_wait_until");
    expect(consumers.find(({ queue }) => queue === "webhook-deliveries")).toMatchObject({
      max_batch_size: 1,
    });
    consumerOf(consumerOf("webhook-deliveries").dead_letter_queue);
  });

  it("has lanes that end within the time for work in the background, and within their lease", () => {
    const SLACK = 5;
    const longest = (WEBHOOK_LANE_TIME + WEBHOOK_TIMEOUT) / 1000 + SLACK;
    expect(longest).toBeLessThanOrEqual(30);
    expect(longest).toBeLessThan(WEBHOOK_LEASE / 1000);
  });
});

it("The queue of mails has a consumer that ends in time, and a mail that ends within its lease, also if no mail is answered", () => {
  // Cloudflare gives it 15 minutes. The mails of other databases wait meanwhile.
  expect((MAIL_TURN + MAIL_TIMEOUT) / 1000).toBeLessThan(MINUTE);
  expect(2 * MAIL_TIMEOUT).toBeLessThan(MAIL_LEASE);
  expect(consumers.find(({ queue }) => queue === "invite-mails")).toMatchObject({ max_batch_size: 1 });
});
