import { onTestFinished, vi } from "vitest";

/** Returns a function that reads the log lines from now on, without those that each request and each cron run writes. */
export function logged() {
  const spies = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () =>
    spies
      .flatMap(({ mock }) => mock.calls.map(([line]) => JSON.parse(String(line))))
      .filter(({ event }) => !["request", "cron", "access_log_not_sealed"].includes(event));
}
