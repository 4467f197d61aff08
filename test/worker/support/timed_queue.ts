import { onTestFinished, vi } from "vitest";
import { withoutShard } from "./deployed.ts";

/** Must match the cron in wrangler.toml. In milliseconds. */
const CRON_INTERVAL = 5 * 60_000;

/** The time of the next cron run at or after a time, but not now. */
export const nextCron = (time: number) =>
  Math.ceil(Math.max(time, Date.now() + 1) / CRON_INTERVAL) * CRON_INTERVAL;

/**
 * A queue whose messages wait until the test lets time pass. Each message is then delivered when it is due, with the clock
 * set to that time.
 */
export function aTimedQueue() {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const messages: { body: unknown; at: number }[] = [];
  const binding = {
    async send(body: unknown, { delaySeconds = 0 } = {}) {
      messages.push({ body: withoutShard(body), at: Date.now() + delaySeconds * 1000 });
    },
    async sendBatch(sent: Iterable<{ body: unknown }>) {
      for (const { body } of sent) messages.push({ body: withoutShard(body), at: Date.now() });
    },
  } as unknown as Queue;

  /** Lets time pass, and delivers the messages that become due. */
  async function pass(milliseconds: number, deliver: (body: unknown) => Promise<unknown>) {
    const end = Date.now() + milliseconds;
    for (;;) {
      messages.sort((a, b) => a.at - b.at);
      const next = messages[0];
      if (!next || next.at > end) break;
      messages.shift();
      vi.setSystemTime(Math.max(next.at, Date.now()));
      await deliver(next.body);
    }
    vi.setSystemTime(Math.max(end, Date.now()));
  }

  return { messages, binding, pass };
}
