import { onTestFinished, vi } from "vitest";
import { DAY, MINUTE } from "../../../src/units.ts";

/** A timestamp as the service writes it. Negative minutes are in the past. */
export const fromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString();

const AHEAD = Date.now() + 60 * DAY;

/**
 * A UTC date two months ahead, or this many days later. It does not change within a test file. A visit may be planned at most
 * two years ahead, and not in the past.
 */
export const dateAhead = (days = 0) => new Date(AHEAD + days * DAY).toISOString().slice(0, 10);

/** A time on that date, as the service writes it if `time` has milliseconds. */
export const timeAhead = (time = "09:30:00.000", days = 0) => `${dateAhead(days)}T${time}Z`;

/** Sets the clock until the test ends, for the Worker too. */
export function travelTo(time: string) {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(time);
}

/** Sets the clock to a number of seconds after the start of the test's story, which is always the same. */
export const travelToSecond = (second: number) =>
  travelTo(new Date(Date.parse("2026-01-31T09:30:00Z") + second * 1000).toISOString());

/** Makes every time limit expire at once until the test ends. Returns the limits that were asked for, in milliseconds. */
export function reachTimeouts() {
  const limits: number[] = [];
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const spy = vi.spyOn(AbortSignal, "timeout").mockImplementation((limit) => {
    limits.push(limit);
    return timeout(1);
  });
  onTestFinished(() => spy.mockRestore());
  return limits;
}
