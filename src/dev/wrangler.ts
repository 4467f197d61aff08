import { type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Wrangler's script, to run with this Node: Windows does not find the command by its bare name. */
const script = () => {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.wrangler);
};

/** Runs a command of wrangler to its end and returns what it printed. Without a terminal, wrangler asks nothing. */
export function runWrangler(args: string[], env = process.env): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script(), ...args], {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status !== 0) throw new Error(`wrangler ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}

export const startWrangler = (args: string[], options: SpawnOptions) =>
  spawn(process.execPath, [script(), ...args], options);
