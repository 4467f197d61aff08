import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inTurn, mayBeLarge } from "../../src/http/large_bodies.ts";
import { LARGE_BODY, LARGE_BODY_TURN, PLATFORM_BODY_LIMIT } from "../../src/limits.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  await vi.runAllTimersAsync();
  vi.useRealTimers();
});

/** A request that ends when it is told to. */
function aRequest() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = { state: "waits", end: resolve, answered: Promise.resolve("") };
  request.answered = inTurn(async () => {
    request.state = "is handled";
    await promise;
  }).then(
    () => "done",
    (error) => `${error.status} after ${error.headers["Retry-After"]} s`,
  );
  return request;
}

describe("Requests with large bodies", () => {
  it("are handled one at a time", async () => {
    const [first, second, third] = [aRequest(), aRequest(), aRequest()];
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN / 2);
    expect([first, second, third].map(({ state }) => state)).toEqual(["is handled", "waits", "waits"]);
    first.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect([second, third].map(({ state }) => state).sort()).toEqual(["is handled", "waits"]);
    second.end();
    third.end();
    await vi.runAllTimersAsync();
    expect(await Promise.all([first.answered, second.answered, third.answered])).toEqual([
      "done",
      "done",
      "done",
    ]);
  });

  it("do not wait for good for one that was cancelled", async () => {
    aRequest();
    const next = aRequest();
    next.end();
    await vi.advanceTimersByTimeAsync(2 * LARGE_BODY_TURN);
    expect(await next.answered).toBe("done");
  });

  it("are refused where others were before them for ten seconds", async () => {
    aRequest();
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN - 1000);
    const [next, last] = [aRequest(), aRequest()];
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN);
    const waiting = next.state === "waits" ? next : last;
    expect(await waiting.answered).toBe("503 after 5 s");
  });

  it("give the turn to the next when they fail", async () => {
    await expect(
      inTurn(async () => {
        throw new Error("fails");
      }),
    ).rejects.toThrow("fails");
    const next = aRequest();
    expect(next.state).toBe("is handled");
    next.end();
  });
});

it.each([
  [PLATFORM_BODY_LIMIT, String(LARGE_BODY), false],
  [PLATFORM_BODY_LIMIT, String(LARGE_BODY + 1), true],
  [PLATFORM_BODY_LIMIT, undefined, true],
  [LARGE_BODY, undefined, false],
])("Where a route takes %i bytes, a body with the length %s is large: %s", (maxSize, length, large) => {
  expect(mayBeLarge(maxSize, length)).toBe(large);
});
