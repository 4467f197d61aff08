import { vi } from "vitest";

/** Waits until the check passes, which may take long on a busy machine. */
export const eventually = (check: () => void | Promise<void>, interval = 250) =>
  vi.waitFor(check, { timeout: 100_000, interval });
