/**
 * Runs wrangler's commands with the Node that runs this, because Windows cannot start `node_modules/.bin/wrangler`
 * without a shell.
 */
import { type SpawnOptions, type SpawnSyncOptions, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const script = () => {
  const manifest = createRequire(import.meta.url).resolve("wrangler/package.json");
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin.wrangler);
};

/** Runs wrangler to its end and returns what it wrote to stdout. Throws with all that it wrote if it fails. */
export function runWrangler(args: string[], options: Pick<SpawnSyncOptions, "env" | "stdio"> = {}): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script(), ...args], {
    maxBuffer: Number.POSITIVE_INFINITY,
    // Without a terminal, wrangler asks nothing.
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(`\`wrangler ${args.slice(0, 2).join(" ")}\` failed. ${stdout ?? ""}${stderr ?? ""}`);
  return stdout ?? "";
}

export const startWrangler = (args: string[], options: SpawnOptions) =>
  spawn(process.execPath, [script(), ...args], options);

/** The flags of wrangler that say which database is meant. */
export const targetOptions = {
  local: { type: "boolean" },
  remote: { type: "boolean" },
  "persist-to": { type: "string" },
  config: { type: "string", short: "c", default: "wrangler.toml" },
  env: { type: "string", short: "e" },
} as const;

export interface Target {
  local?: boolean;
  remote?: boolean;
  "persist-to"?: string;
  config: string;
  env?: string;
}

/** Without --remote, the local database is meant. */
export const targetFlags = (target: Target): string[] => [
  target.remote ? "--remote" : "--local",
  ...(["persist-to", "config", "env"] as const).flatMap((name) => {
    const value = target[name];
    return value === undefined ? [] : [`--${name}`, value];
  }),
];

export type Rows = Record<string, string | number | null>[];

/** Runs statements, and returns the rows of each. */
export function queryDatabase(target: Target, statements: string[]): Rows[] {
  const command = [
    "d1",
    "execute",
    "DB",
    ...targetFlags(target),
    "--json",
    "--command",
    statements.join(";\n"),
  ];
  return JSON.parse(runWrangler(command)).map(({ results }: { results: Rows }) => results);
}
