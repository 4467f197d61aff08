import { assert, integer, option, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_WEBHOOK_PAUSE, MIN_WEBHOOK_PAUSE, WEBHOOK_RETRY_DELAYS } from "../../src/limits.ts";
import {
  nextAttemptAt,
  pausedUntil,
  retryAfterAt,
} from "../../src/resources/webhook_deliveries/webhook_deliveries.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00Z");
const DAY = 86_400_000;

describe("A delivery that failed", () => {
  it("is tried again after the delay for its attempts, with some jitter, and given up after the last", () => {
    WEBHOOK_RETRY_DELAYS.forEach((delay, n) => {
      expect(nextAttemptAt(n + 1, null, NOW, 0)).toBe(NOW + delay);
      expect(nextAttemptAt(n + 1, null, NOW, 1)).toBe(NOW + Math.round(delay * 1.1));
    });
    expect(nextAttemptAt(WEBHOOK_RETRY_DELAYS.length + 1, null, NOW)).toBeNull();
    expect(nextAttemptAt(WEBHOOK_RETRY_DELAYS.length + 1, "60", NOW)).toBeNull();
  });

  it("waits longer if Retry-After asks for it, and never less than without it", () => {
    expect(nextAttemptAt(1, "600", NOW, 0)).toBe(NOW + 600_000);
    expect(nextAttemptAt(1, "Sat, 31 Jan 2026 09:40:00 GMT", NOW, 0)).toBe(NOW + 600_000);
    expect(nextAttemptAt(2, "1", NOW, 0)).toBe(NOW + 300_000);
    expect(nextAttemptAt(1, "Sat, 31 Jan 2020 09:40:00 GMT", NOW, 0)).toBe(NOW + 5000);
  });

  it("is tried within a day and its delay, whatever a receiver sends", () => {
    assert(
      property(integer({ min: 1, max: 9 }), option(string()), (attempts, retry_after) => {
        const next = nextAttemptAt(attempts, retry_after, NOW) ?? 0;
        expect(next).toBeGreaterThan(NOW);
        expect(next).toBeLessThanOrEqual(NOW + 1.1 * DAY);
      }),
    );
  });
});

describe("Retry-After", () => {
  it.each([
    ["120", NOW + 120_000],
    ["0", NOW],
    ["9".repeat(400), NOW + DAY],
    ["Fri, 31 Dec 9999 23:59:59 GMT", NOW + DAY],
    ["soon", null],
    ["", null],
  ])("%s", (value, expected) => {
    expect(retryAfterAt(value, NOW)).toBe(expected);
  });
});

describe("A failing endpoint is left in peace", () => {
  it("for as long as it has been failing, from 5 seconds to a minute", () => {
    const pause = (failingFor: number, retry_after: string | null = null) =>
      pausedUntil(NOW - failingFor, retry_after, NOW) - NOW;
    expect(pause(0)).toBe(MIN_WEBHOOK_PAUSE);
    expect(pause(20_000)).toBe(20_000);
    expect(pause(DAY)).toBe(MAX_WEBHOOK_PAUSE);
    expect(pause(0, "30")).toBe(30_000);
    expect(pause(0, "3600")).toBe(MAX_WEBHOOK_PAUSE);
  });
});
