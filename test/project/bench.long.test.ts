import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("npm run bench measures every part", async () => {
  const { stdout } = await promisify(execFile)("node", ["test/bench/run.ts", "--quick"], {
    maxBuffer: 10_000_000,
  });
  for (const part of ["Operations", "Start-up", "Storage"]) expect(stdout).toContain(`**${part}**`);
}, 1_800_000);
