import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const run = (command: string, ...args: string[]) =>
  spawnSync(process.execPath, [`src/dev/${command}.ts`, ...args], { encoding: "utf8" });

describe.each([["sizes"], ["backup"], ["restore"], ["provision"], ["shards:add", "shards_add"]])(
  "npm run %s",
  (command, file = command) => {
    it("says with --help how it is used, and does nothing", () => {
      const { status, stdout, stderr } = run(file, "--help");
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toMatch(new RegExp(`^Usage: npm run ${command} -- .*\\n\\n  --\\w+`));
    });

    it("fails for an argument that it does not know, and names it", () => {
      const { status, stdout, stderr } = run(file, "--nosuch");
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toMatch(/^Unknown option '--nosuch'/);
      expect(stderr).not.toContain("    at ");
    });
  },
);
