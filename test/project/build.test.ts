import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { PUBLIC_ASSETS } from "../../src/openapi/assets.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"));
  for (const path of ["src", "drizzle", "package.json", "wrangler.toml", ".dev.vars.example"])
    cpSync(path, join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
  return () => rmSync(folder, { recursive: true });
});

/** Builds as `wrangler dev` does it. */
function build(): string {
  const { stdout, stderr } = spawnSync(process.execPath, ["src/openapi/build.ts"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, WRANGLER_COMMAND: "dev" },
  });
  expect(stderr).toBe("");
  return stdout;
}

it("`wrangler dev` in a fresh clone says in one line what to run first", () => {
  expect(build()).toMatch(/^[^\n]*run `npm run dev`[^\n]*\n$/);
});

it("A build removes assets that an earlier build left, so that they are not deployed", () => {
  const leftover = join(folder, PUBLIC_ASSETS, "api", "development_credentials.js");
  mkdirSync(join(leftover, ".."), { recursive: true });
  writeFileSync(leftover, "");
  writeFileSync(join(folder, ".dev.vars"), "");
  expect(build()).toBe("");
  expect(existsSync(leftover)).toBe(false);
  expect(existsSync(join(folder, PUBLIC_ASSETS, "api", "external", "openapi.json"))).toBe(true);
});
