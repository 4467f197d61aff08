import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, inject, vi } from "vitest";
import { npmRun } from "./server.ts";

/** A folder for tests of commands on several databases, with configurations in it. */
export function configurations() {
  // Each command loads wrangler, and some start it, which takes seconds on a busy machine.
  vi.setConfig({ testTimeout: 600_000 });
  const folder = mkdtempSync(join(tmpdir(), "shards-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return { folder, aConfiguration: (name: string, data?: string) => aConfiguration(folder, name, data) };
}

/** A copy of the configuration with a copy of local data beside it: by default, a migrated database. */
function aConfiguration(folder: string, name: string, data = inject("migratedState")) {
  const config = join(folder, `${name}.toml`);
  writeFileSync(config, absolute(readFileSync("wrangler.toml", "utf8")));
  const state = join(folder, name);
  cpSync(join(data, "v3"), join(state, "v3"), { recursive: true });
  const flags = ["--config", config, "--persist-to", state];
  return {
    state,
    text: () => readFileSync(config, "utf8"),
    write: (text: string) => writeFileSync(config, text),
    run: (command: string, ...args: string[]) => npmRun(command, "--", ...flags, ...args),
  };
}

/** Makes the paths absolute, because they are relative to the configuration. */
export const absolute = (toml: string) =>
  toml
    .replace(/(?<=^zod = )"(.*)"/m, (_, path) => JSON.stringify(resolve(path)))
    .replace(/(?<=^main = )"(.*)"/m, (_, path) => JSON.stringify(resolve(path)))
    .replace(/(?<=^(?:directory|migrations_dir) = )"(.*)"/gm, (_, path) => JSON.stringify(resolve(path)));
