import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ANSWER_STALLED_AFTER,
  LARGE_ANSWER,
  LARGE_REQUEST_ALONE,
  MAX_LARGE_ANSWERS,
} from "../../src/tuning.ts";

/** That of an isolate in which nothing has happened yet. */
let answerInTurn: typeof import("../../src/http/large_answers.ts").answerInTurn;

beforeEach(async () => {
  vi.resetModules();
  ({ answerInTurn } = await import("../../src/http/large_answers.ts"));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const LONG = "a".repeat(LARGE_ANSWER + 1);

/** An answer of these parts, which are read in so many milliseconds; or why it was refused. */
function answer(parts: Iterable<string> | AsyncIterable<string>, ms = 0) {
  const app = new Hono().get("/", (c) =>
    answerInTurn(c, async () => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return { parts, headers: {} };
    }),
  );
  app.onError((error, c) => c.text(error.message, 503));
  return app.request("/");
}

const statesOf = async (answers: (Response | Promise<Response>)[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

describe("Answers that may be long", () => {
  it("wait for nothing but the database where they are short: sixty in four seconds", async () => {
    const sixty = Array.from({ length: 60 }, () => answer(["{}"], 100));
    await vi.advanceTimersByTimeAsync(4000);
    expect(new Set(await statesOf(sixty))).toEqual(new Set([200]));
  });

  it("are sent whole, part by part", async () => {
    const response = await Promise.all([answer([LONG, "b", "c"]), vi.advanceTimersByTimeAsync(0)]);
    expect(await response[0].text()).toBe(`${LONG}bc`);
  });

  it("do not wait for good for callers who take nothing: their answers are cut off", async () => {
    const untaken = Array.from({ length: MAX_LARGE_ANSWERS }, () => answer([LONG, "b"]));
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE + 100);
    const readers = (await Promise.all(untaken)).map((response) => response.body?.getReader());
    await readers[0]?.read();
    const next = answer(["{}"]);
    await vi.advanceTimersByTimeAsync(ANSWER_STALLED_AFTER + 1000);
    expect(await statesOf([next])).toEqual([200]);
    for (const reader of readers) await expect(reader?.read()).rejects.toThrow("does not take the answer");
  });

  it("give their turn to the next where the caller goes, also before the first part", async () => {
    const gone = Array.from({ length: MAX_LARGE_ANSWERS }, () => answer([LONG, "b"]));
    await vi.advanceTimersByTimeAsync(LARGE_REQUEST_ALONE + 100);
    for (const response of await Promise.all(gone)) await response.body?.cancel();
    const next = answer(["{}"]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await statesOf([next])).toEqual([200]);
  });

  it("name a fault in the log that comes when the answer has begun", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    async function* broken() {
      yield LONG;
      throw new Error("D1_ERROR: gone");
    }
    const [response] = await Promise.all([answer(broken()), vi.advanceTimersByTimeAsync(0)]);
    await expect(response.text()).rejects.toThrow();
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });
});
