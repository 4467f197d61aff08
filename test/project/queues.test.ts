import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { WEBHOOK_TIMEOUT } from "../../src/lifetimes.ts";
import { growingPause } from "../../src/pauses.ts";
import {
  MAIL_LEASE,
  MAIL_PORTION,
  MAIL_TIMEOUT,
  MAILS_AT_ONCE,
  QUEUE_RETRIES,
  WEBHOOK_LANE_TIME,
  WEBHOOK_LEASE,
} from "../../src/tuning.ts";

const MINUTE = 60;

const consumers = unstable_readConfig({ config: "wrangler.toml" }).queues.consumers ?? [];

it("Each queue gives each message its own invocation, and drops a message that keeps failing", () => {
  expect(consumers).toHaveLength(4);
  for (const consumer of consumers) {
    expect(consumer).toMatchObject({ max_batch_size: 1, max_batch_timeout: 0 });
    expect(consumer).not.toHaveProperty("dead_letter_queue");
  }
});

it("growingPause never exceeds the longest delay of a queue", () => {
  expect(growingPause(101, QUEUE_RETRIES)).toBeLessThanOrEqual(12 * 60 * MINUTE);
});

describe("The queue of webhooks", () => {
  it("does not wait for receivers", () => {
    const { compatibility_flags } = unstable_readConfig({ config: "wrangler.toml" });
    expect(compatibility_flags).toContain("queue_consumer_no_wait_for_wait_until");
  });

  it("has lanes that end within the time for background work, and within their lease", () => {
    const SLACK = 5;
    const longest = (WEBHOOK_LANE_TIME + WEBHOOK_TIMEOUT) / 1000 + SLACK;
    expect(longest).toBeLessThanOrEqual(30);
    expect(longest).toBeLessThan(WEBHOOK_LEASE / 1000);
  });
});

it("The queue of mails has a consumer that ends in time and mails that end within their lease, even if none is answered", () => {
  // Cloudflare allows it 15 minutes, but the mails of other databases wait meanwhile.
  expect(((MAIL_PORTION / MAILS_AT_ONCE) * MAIL_TIMEOUT) / 1000).toBeLessThan(2 * MINUTE);
  expect(2 * MAIL_TIMEOUT).toBeLessThan(MAIL_LEASE);
});
