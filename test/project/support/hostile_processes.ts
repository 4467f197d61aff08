import { spawnSync } from "node:child_process";
import { expect } from "vitest";

/** Runs a script of this folder in its own process, which fails if its heap needs more than this many megabytes. */
export function runInOwnProcess(megabytes: number, script: string, ...args: string[]) {
  const flags = ["--no-warnings", "--expose-gc", `--max-old-space-size=${megabytes}`];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, `test/project/support/${script}`, ...args],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  return { status, stdout, stderr: stderr.slice(0, 5000) };
}

/**
 * Expects that no request is answered with 5xx, changes anything when it is refused, or leaks memory.
 *
 * @param statuses statuses that must occur among the answers, so that the refusals are not all alike
 */
export function expectBadRequestsRefused(count: number, statuses: string[]) {
  const { stdout, ...result } = runInOwnProcess(256, "send_bad_requests.ts", String(count));
  expect(result, stdout).toEqual({ status: 0, stderr: "" });
  expect(Object.keys(JSON.parse(stdout))).toEqual(expect.arrayContaining(statuses));
}
