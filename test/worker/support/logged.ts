import { onTestFinished, vi } from "vitest";

/** Lines of every request and of every run of the cron. */
const USUAL = ["request", "cron", "access_log_not_sealed", "backup_late"];

export const isUnusual = ({ event }: Record<string, unknown>) => !USUAL.includes(String(event));

/** Returns a function that reads the log lines from now on, without those that each request and each cron run writes. */
export function logged() {
  const spies = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () =>
    spies.flatMap(({ mock }) => mock.calls.map(([line]) => JSON.parse(String(line)))).filter(isUnusual);
}
