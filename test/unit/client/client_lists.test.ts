import { describe, expect, it, onTestFinished, vi } from "vitest";
import { paginate } from "../../../dist/client/external/index.js";
import { aClient, refusal } from "../../support/a_client.ts";

const events = (count: number, from = 1) =>
  Response.json({
    events: Array.from({ length: count }, (_, n) => ({ id: from + n })),
    next_after: from + count - 1,
  });

/** Expects the list to end with its third item, after which its signal aborts. */
async function expectAborted(list: (signal: AbortSignal) => AsyncIterable<{ id: number }>) {
  const controller = new AbortController();
  const taken: number[] = [];
  const following = (async () => {
    for await (const { id } of list(controller.signal)) {
      taken.push(id);
      if (id === 3) controller.abort(new Error("enough"));
    }
  })();
  await expect(following).rejects.toThrow("enough");
  expect(taken).toEqual([1, 2, 3]);
}

describe("followEvents", () => {
  /** How many requests have been sent at each of these seconds, to a server that refuses them all. */
  async function sentBy(seconds: number[], headers: Record<string, string>, interval?: number) {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const refused = Array.from({ length: 1000 }, () => () => refusal(429, "Too many requests", headers));
    const { client, sent } = aClient(refused, { maxRetries: 0 });
    const controller = new AbortController();
    const next = client.followEvents({ interval, signal: controller.signal }).next();
    next.catch(() => {});
    const counts: number[] = [];
    for (const [n, at] of seconds.entries()) {
      await vi.advanceTimersByTimeAsync((at - (seconds[n - 1] ?? 0)) * 1000);
      counts.push(sent.length);
    }
    controller.abort();
    await next.catch(() => {});
    return counts;
  }

  it("waits as long as Retry-After says, even for an hour", async () => {
    expect(await sentBy([1, 3599, 3602, 7199], { "Retry-After": "3600" })).toEqual([1, 1, 2, 2]);
  });

  it("waits for the interval if it is longer than Retry-After", async () => {
    expect(await sentBy([1, 119, 121, 239], { "Retry-After": "1" }, 120_000)).toEqual([1, 1, 2, 2]);
  });

  it("does not skip a wait that is too long for a timer", async () => {
    expect(await sentBy([1, 86_400], { "Retry-After": "1e9" })).toEqual([1, 1]);
    expect(await sentBy([1, 86_400], {}, Number.POSITIVE_INFINITY)).toEqual([1, 1]);
  });

  it("ends at once when its signal aborts within a page", async () => {
    const { client, sent } = aClient([events(100)]);
    await expectAborted((signal) => client.followEvents({ signal }));
    expect(sent).toHaveLength(1);
  });
});

it("paginate ends at once when its signal aborts within a page", async () => {
  const { client } = aClient([events(100)]);
  await expectAborted((signal) => paginate(client.listEvents, undefined, { signal }));
});
