import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsInDocs, flagsIn } from "./support/docs.ts";

const run = (file: string, ...args: string[]) =>
  spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });

const scripts: Record<string, string> = JSON.parse(readFileSync("package.json", "utf8")).scripts;

/** Of package.json, with the file that each runs. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]) => {
  const file = /node (src\/dev\/\w+\.ts)/.exec(script)?.[1];
  return file ? [[name, file] as const] : [];
});

/** Those that README.md and src/docs give the command. */
const documentedFlags = (command: string) =>
  commandsInDocs
    .filter((each) => new RegExp(`\\bnpm run (--silent )?${command}( |$)`).test(each))
    .flatMap((each) => flagsIn(` ${each.split(" -- ")[1] ?? ""}`));

describe.each(COMMANDS)("npm run %s", (command, file) => {
  it("says with --help how it is used, with each flag that the docs name, and does nothing", () => {
    const { status, stdout, stderr } = run(file, "--help");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: npm run ${command}\\b.*\\n\\n`));
    expect(documentedFlags(command).filter((flag) => !stdout.includes(flag))).toEqual([]);
  });

  it("fails for an argument that it does not know, and names it", () => {
    const { status, stdout, stderr } = run(file, "--nosuch");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^Unknown option '--nosuch'/);
    expect(stderr).not.toContain("    at ");
  });
});
