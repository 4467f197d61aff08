import { spawnSync } from "node:child_process";
import { expect } from "vitest";

/** Runs a script of this folder in a process of its own, which ends when its heap needs more than this many megabytes. */
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
 * Expects that none is answered with 5xx, changes anything when it is refused, or takes memory for good.
 *
 * @param statuses what the answers are, among others: so it is not always the same refusal
 */
export function expectBadRequestsRefused(count: number, statuses: string[]) {
  const { stdout, ...result } = runInOwnProcess(256, "send_bad_requests.ts", String(count));
  expect(result, stdout).toEqual({ status: 0, stderr: "" });
  expect(Object.keys(JSON.parse(stdout))).toEqual(expect.arrayContaining(statuses));
}
