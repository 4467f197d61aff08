import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it.each(["check", "unique index", "foreign key"])(
  "A test notices each of three mutants of the kind %s",
  async (kind) => {
    const args = ["test/mutants/run.ts", "--kind", kind, "--sample", "3", "--seed", "1"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    process.stdout.write(stdout);
    expect(stdout.split("\n").filter((line) => line.includes(": noticed by "))).toHaveLength(3);
  },
);
