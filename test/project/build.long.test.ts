import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLIENTS, DEVELOPMENT_ASSETS, PUBLIC_ASSETS } from "../../src/reference/assets.ts";
import { INPUTS } from "../../src/reference/build_record.ts";

function run(folder: string, { flags = [], env = {} }: { flags?: string[]; env?: Record<string, string> }) {
  return spawnSync(process.execPath, [...flags, "src/reference/build.ts"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
}

describe("The build", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "build-"));
    for (const path of ["src", "package.json", "tsconfig.json", "wrangler.toml", ".dev.vars.example"])
      cpSync(path, join(folder, path), { recursive: true });
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
    return () => rmSync(folder, { recursive: true });
  });

  /** Builds as `wrangler dev` does. */
  function build(flags?: string[]): string {
    const { stdout, stderr } = run(folder, { flags, env: { WRANGLER_COMMAND: "dev" } });
    expect(stderr).toBe("");
    return stdout;
  }

  it("says in one line what to run first if `wrangler dev` runs it in a fresh clone", () => {
    rmSync(join(folder, ".dev.vars"), { force: true });
    expect(build()).toMatch(/^[^\n]*run `npm run dev`[^\n]*\n$/);
    // Also if there is nothing to build.
    expect(build()).toMatch(/^[^\n]*run `npm run dev`[^\n]*\n$/);
  });

  it("removes the assets of an earlier build, so that they are not deployed", () => {
    const leftover = join(folder, PUBLIC_ASSETS, "api", "development_credentials.js");
    mkdirSync(join(leftover, ".."), { recursive: true });
    writeFileSync(leftover, "");
    writeFileSync(join(folder, ".dev.vars"), "");
    expect(build()).toBe("");
    expect(existsSync(leftover)).toBe(false);
    expect(existsSync(join(folder, PUBLIC_ASSETS, "api", "external", "openapi.json"))).toBe(true);
  });

  it("reads only installed packages, and files whose change triggers the next build", () => {
    appendFileSync(join(folder, "src/limits.ts"), "\n");
    build(["--import", pathToFileURL("test/project/support/record_reads.ts").href]);
    const reads = readFileSync(join(folder, "reads.txt"), "utf8").trimEnd().split("\n");
    const own = reads
      .map((file) => relative(folder, resolve(folder, file)))
      .filter((file) => existsSync(join(folder, file)) && !file.split(sep).includes("node_modules"))
      .map((file) => file.replaceAll("\\", "/"))
      // Loading wrangler reads files of the system.
      .filter((file) => !/^(\.\.\/)+(etc|proc)\//.test(file));
    // Read by an import, by `readFileSync` and by `readFile`.
    expect(own).toEqual(expect.arrayContaining(["src/app.ts", "wrangler.toml", ".dev.vars.example"]));
    const isInput = (file: string) => INPUTS.some((input) => file === input || file.startsWith(`${input}/`));
    expect(own.filter((file) => !isInput(file) && !file.startsWith("dist/"))).toEqual([]);
  });
});

/** A stub for the generation, which takes seconds. */
const GENERATE = `import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
export async function generate({ withSdk }) {
  appendFileSync("made.txt", withSdk ? "all\\n" : "all but the SDK\\n");
  for (const folder of ["${PUBLIC_ASSETS}", "${DEVELOPMENT_ASSETS}", "${CLIENTS}"]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(folder + "/file", "made");
  }
  if (process.env.SAVED_MEANWHILE) appendFileSync("src/limits.ts", "//");
  if (process.env.FAILS) throw new Error("It fails half-way.");
}
`;

describe("The next build", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "build-"));
    for (const file of ["build.ts", "build_record.ts", "assets.ts"])
      cpSync(`src/reference/${file}`, join(folder, "src/reference", file));
    write("src/reference/generate.ts", GENERATE);
    for (const file of INPUTS.filter((each) => each !== "src")) write(file, "{}");
    write("src/limits.ts", "");
    return () => rmSync(folder, { recursive: true });
  });

  function write(file: string, content: string) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content);
  }

  /** Builds, and returns what was made. */
  function build(env: Record<string, string> = {}): string {
    write("made.txt", "");
    const { status } = run(folder, { env });
    expect(status).toBe(env.FAILS ? 1 : 0);
    return readFileSync(join(folder, "made.txt"), "utf8").trimEnd();
  }

  it("makes nothing if nothing has changed, and the SDK if the last build left it out", () => {
    const forAServer = { WRANGLER_COMMAND: "dev" };
    const made = [build(forAServer), build(forAServer), build(), build(), build(forAServer)];
    expect(made).toEqual(["all but the SDK", "", "all", "", ""]);
  });

  const inputs = ["src/limits.ts", "src/reference/guides/new.md", ...INPUTS.filter((each) => each !== "src")];
  it.each<[string, () => void]>([
    ...inputs.map((file) => [`${file} has changed`, () => write(file, "{ }")] as [string, () => void]),
    ["a file was deleted", () => rmSync(join(folder, "src/limits.ts"))],
    ["a file was renamed", () => renameSync(join(folder, "src/limits.ts"), join(folder, "src/bounds.ts"))],
    ...[PUBLIC_ASSETS, DEVELOPMENT_ASSETS, CLIENTS].flatMap((output): [string, () => void][] => [
      [`a file in ${output} is missing`, () => rmSync(join(folder, output, "file"))],
      [`a file in ${output} was edited`, () => write(`${output}/file`, "edited")],
      [`a file in ${output} is additional`, () => write(`${output}/other`, "")],
    ]),
  ])("makes everything again if %s", (_, change) => {
    build();
    change();
    expect([build(), build()]).toEqual(["all", ""]);
  });

  it("makes everything again if a file was saved during the last build, or that failed", () => {
    expect([build({ SAVED_MEANWHILE: "yes" }), build(), build()]).toEqual(["all", "all", ""]);
    write("src/limits.ts", "// changed");
    expect([build({ FAILS: "yes" }), build(), build()]).toEqual(["all", "all", ""]);
  });
});
