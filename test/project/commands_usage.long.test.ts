import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsInDocs, flagsIn } from "./support/docs.ts";

const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });

const scripts: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

/** The commands of package.json, with the files that they run. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]) => {
  const file = /node ((?:src\/dev|test\/bench)\/\w+\.ts)/.exec(script)?.[1];
  return file ? [[name, file] as const] : [];
});

/** The commands that change nothing but this machine. */
const LOCAL = ["dev", "bench", "db:baseline", "db:generate", "status", "stack"];

/** The flags that README.md and src/docs give the command. */
const documentedFlags = (command: string) =>
  commandsInDocs
    .filter((each) => new RegExp(`\\bnpm run (--silent )?${command}( |$)`).test(each))
    .flatMap((each) => flagsIn(` ${each.split(" -- ")[1] ?? ""}`));

describe.each(COMMANDS)("npm run %s", (command, file) => {
  it("prints its usage with --help, including every documented flag, and does nothing else", () => {
    const { status, stdout, stderr } = run(file, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: npm run ${command}\\b.*\\n\\n`));
    expect(documentedFlags(command).filter((flag) => !stdout.includes(flag))).toEqual([]);
    for (const flag of ["--dry-run", "--yes"])
      expect(stdout.includes(flag), flag).toBe(!LOCAL.includes(command));
  });

  it("fails with an unknown option, and names it", () => {
    const { status, stdout, stderr } = run(file, "--nosuch");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--nosuch'/);
    expect(stderr).not.toContain("    at ");
  });
});
