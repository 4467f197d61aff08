/**
 * Runs wrangler's commands with the Node that runs this, because Windows cannot start `node_modules/.bin/wrangler`
 * without a shell.
 */
import { type StdioOptions, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const WRANGLER = join(
  dirname(fileURLToPath(import.meta.resolve("wrangler/package.json"))),
  "bin/wrangler.js",
);

/** Runs wrangler to its end and returns what it wrote to stdout. Throws with all that it wrote if it fails. */
export function runWrangler(args: string[], stdio: StdioOptions = ["inherit", "pipe", "pipe"]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [WRANGLER, ...args], {
    encoding: "utf8",
    maxBuffer: Number.POSITIVE_INFINITY,
    stdio,
  });
  if (status !== 0)
    throw new Error(`\`wrangler ${args.slice(0, 2).join(" ")}\` failed. ${stdout ?? ""}${stderr ?? ""}`);
  return stdout ?? "";
}

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
