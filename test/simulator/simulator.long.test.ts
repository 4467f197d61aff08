import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { MUTATIONS } from "./mutations.ts";

/** Runs `npm run simulate`, and shows its output. A run that breaks a rule, or a fault that is not found, fails the test. */
async function simulate(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ["test/simulator/simulate.ts", ...args], {
    env: { ...process.env, ...env },
    maxBuffer: 64 * 2 ** 20,
  });
  process.stdout.write(stdout);
  return stdout;
}

const digestsIn = (output: string) =>
  output
    .split("\n")
    .filter((line) => /^\d+ [0-9a-f]{64}$/.test(line))
    .sort();

it("A seed gives the same trace, to the last byte, in any time zone and after any other seed", async () => {
  const [one, other] = await Promise.all([
    simulate(["--seeds", "1..20", "--digests"]),
    simulate(["--seeds", "20..1", "--digests"], { TZ: "Asia/Kathmandu" }),
  ]);
  expect(digestsIn(one)).toHaveLength(20);
  expect(digestsIn(other)).toEqual(digestsIn(one));
});

it.concurrent.each(MUTATIONS)("Within 200 seeds, the simulator finds: $name", async ({ name }) => {
  await simulate(["--mutation", name]);
});

it("No rule is broken in five minutes", async () => {
  await simulate(["--minutes", "5"]);
});
