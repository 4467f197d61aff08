import { onTestFinished, vi } from "vitest";
import { MINUTE } from "../../../src/units.ts";

/** A timestamp as the service writes it. Negative minutes are in the past. */
export const fromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString();

/** Sets the clock until the test ends, also for the Worker. */
export function travelTo(time: string) {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(time);
}

/** Sets the clock to a number of seconds after the start of the test's story. */
export const travelToSecond = (second: number) =>
  travelTo(new Date(Date.parse("2026-01-31T09:30:00Z") + second * 1000).toISOString());

/** Until the test ends, lets what has a time limit reach it at once. Returns the limits, in milliseconds. */
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
