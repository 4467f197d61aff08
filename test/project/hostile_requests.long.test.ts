import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** Runs a script in its own process, which fails if its heap needs more than this many megabytes. */
function runInOwnProcess(megabytes: number, script: string, ...args: string[]) {
  const flags = ["--no-warnings", "--expose-gc", `--max-old-space-size=${megabytes}`];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, `test/project/support/${script}`, ...args],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  return { status, stdout, stderr: stderr.slice(0, 5000) };
}

it("The largest and most expensive bodies of every route are answered within the memory of a Worker", () => {
  const { stdout, ...result } = runInOwnProcess(128, "send_hostile_bodies.ts");
  const last = stdout.trim().split("\n").slice(-2).join("\n");
  expect(result, `The last body was ${last}`).toEqual({ status: 0, stderr: "" });
});

it("No bad request of 20,000 is answered with 5xx, changes anything when it is refused, or leaks memory", () => {
  const { stdout, ...result } = runInOwnProcess(256, "send_bad_requests.ts", "20000");
  expect(result, stdout).toEqual({ status: 0, stderr: "" });
  // The refusals are not all alike.
  const statuses = ["200", "201", "204", "400", "401", "404", "422"];
  expect(Object.keys(JSON.parse(stdout))).toEqual(expect.arrayContaining(statuses));
});
