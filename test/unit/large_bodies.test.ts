import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mayBeLarge } from "../../src/http/large_bodies.ts";
import { LARGE_BODY_TURN } from "../../src/lifetimes.ts";
import { LARGE_BODY, PLATFORM_BODY_LIMIT } from "../../src/limits.ts";
import { LARGE_REQUEST_ALONE, LARGE_REQUEST_OVER_AFTER } from "../../src/tuning.ts";

/** That of an isolate in which nothing has happened yet. */
let inTurn: typeof import("../../src/http/large_bodies.ts").inTurn;

beforeEach(async () => {
  vi.resetModules();
  ({ inTurn } = await import("../../src/http/large_bodies.ts"));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A request whose body is read, and which then ends, when it is told to. */
function aRequest() {
  const [body, database] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const request = {
    state: "waits",
    isRead: body.resolve,
    end() {
      body.resolve();
      database.resolve();
    },
    answered: Promise.resolve(""),
  };
  request.answered = inTurn(
    () => {
      request.state = "is read";
      return body.promise;
    },
    () => {
      request.state = "is handled";
      return database.promise;
    },
  ).then(
    () => "done",
    (error) => `${error.status} after ${error.headers["Retry-After"]} s`,
  );
  return request;
}

const statesOf = (requests: { state: string }[]) => requests.map(({ state }) => state).sort();

describe("Requests with large bodies", () => {
  it("are handled one at a time", async () => {
    const [first, second, third] = [aRequest(), aRequest(), aRequest()];
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN / 2);
    expect([first, second, third].map(({ state }) => state)).toEqual(["is read", "waits", "waits"]);
    first.isRead();
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE / 2);
    expect([first, second, third].map(({ state }) => state)).toEqual(["is handled", "waits", "waits"]);
    first.end();
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE / 2);
    expect(statesOf([second, third])).toEqual(["is read", "waits"]);
    second.end();
    third.end();
    await vi.runAllTimersAsync();
    expect(await Promise.all([first.answered, second.answered, third.answered])).toEqual([
      "done",
      "done",
      "done",
    ]);
  });

  it("wait only for a moment for one that waits for its database, but no two of them are passed", async () => {
    const hung = [aRequest(), aRequest()];
    for (const each of hung) each.isRead();
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE + 100);
    expect(statesOf(hung)).toEqual(["is handled", "is handled"]);
    const next = aRequest();
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN / 2);
    expect(next.state).toBe("waits");
    hung[1]?.end();
    next.end();
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE);
    expect(await next.answered).toBe("done");
  });

  it("do not wait for good for those that were cancelled", async () => {
    for (const cancelled of [aRequest(), aRequest()]) cancelled.isRead();
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_OVER_AFTER);
    const next = aRequest();
    await vi.advanceTimersByTimeAsync(0);
    expect(next.state).toBe("is read");
    next.end();
    expect(await next.answered).toBe("done");
  });

  it("do not wait for good for a body that does not come", async () => {
    aRequest();
    const next = aRequest();
    next.end();
    await vi.advanceTimersByTimeAsync(LARGE_BODY_TURN);
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
    const fails = async () => {
      throw new Error("fails");
    };
    await expect(inTurn(fails, async () => {})).rejects.toThrow("fails");
    await expect(inTurn(async () => {}, fails)).rejects.toThrow("fails");
    const next = aRequest();
    await vi.advanceTimersByTimeAsync(0);
    expect(next.state).toBe("is read");
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
