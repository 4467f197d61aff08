import { onTestFinished, vi } from "vitest";

const MINUTE = 60_000;

/** As the service writes it. Negative minutes lie in the past. */
export const fromNow = (minutes: number) => new Date(Date.now() + minutes * MINUTE).toISOString();

/** Sets the clock, the Worker's too, until the test ends. */
export function travelTo(time: string) {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  vi.setSystemTime(time);
}
