import { vi } from "vitest";

/** Waits until the check passes: on a busy machine that may take long. */
export const eventually = (check: () => void | Promise<void>, interval = 250) =>
  vi.waitFor(check, { timeout: 100_000, interval });
